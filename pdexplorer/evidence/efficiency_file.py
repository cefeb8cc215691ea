"""Fitted numbers written as the catalogue's efficiencies.toml, and the fit of the shipped file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.catalog.effects import fitted_count
from pdexplorer.evidence.calibration import Calibration, fit
from pdexplorer.evidence.layouts import columns_of, holds_reduces
from pdexplorer.evidence.points import read_points
from pdexplorer.evidence.reduce_points import read_reduce_points

_HEADER = """\
# {count} numbers fitted to measured kernel times: shares of the datasheet's ceilings, and fixed times.
# Written by `pdexplorer catalog fit`; refit instead of editing.
# A number is its base times every factor whose level a chip, engine and format has; a kernel is an engine
# and a format. Rows say where numbers were measured and how good they are: errors are |predicted / measured
# - 1| of the fitted group alone, spread_fraction their root mean square, rows weighing by their group's
# share of the step.
# accelerator = "default": all chips of that format and engine together, for those nobody measured.
"""


def fit_files(files: Sequence[str | Path], catalog: Catalog | None = None) -> Calibration:
    """Efficiencies fitted to step files (their mixed steps are left for scoring) and to single all-reduces of
    tables laid out as catalog/efficiency.csv. ValueError, one line, for a file of neither layout.
    """
    tables = [path for path in files if holds_reduces(columns_of(path))]
    steps = [path for path in files if path not in tables]
    points = [point for path in steps for point in read_points(path) if point.phase in ("prefill", "decode")]
    reduces = [point for path in tables for point in read_reduce_points(path)]
    return fit(points, catalog or load_catalog(), " and ".join(Path(path).name for path in steps), reduces)


def to_toml(document: Mapping[str, Any]) -> str:
    """Sections of a fit as TOML: numbers by effect, then one line a row; numbers keep four digits."""
    sources = list(dict.fromkeys(_sources(document)))
    keys = {text: f"s{number}" for number, text in enumerate(sources, start=1)}
    lines = [_HEADER.format(count=fitted_count(document)), "[sources]"]
    lines += [f"{key} = {_literal(text)}" for text, key in keys.items()]
    for name, section in document.items():
        columns = section["columns"]
        place = columns.index("source")
        lines += ["", f"[{name}]", f"part = {_literal(section['part'])}"]
        lines += [f"columns = [{', '.join(_literal(column) for column in columns)}]", "rows = ["]
        for row in section["rows"]:
            cells = [*row[:place], keys[row[place]], *row[place + 1 :]]
            lines.append(f"  [{', '.join(_literal(cell) for cell in cells)}],")
        lines.append("]")
        for number, effects in section.get("numbers", {}).items():
            factors = ", ".join(f"{_key(level)} = {_literal(value)}" for level, value in effects.items())
            lines.append(f"numbers.{number} = {{ {factors} }}")
    return "\n".join(lines) + "\n"


def _sources(document: Mapping[str, Any]) -> Iterable[str]:
    for section in document.values():
        place = section["columns"].index("source")
        yield from (row[place] for row in section["rows"])


def _key(level: str) -> str:
    return level if level.isidentifier() else _literal(level)


def _literal(value: Any) -> str:
    if value is None:
        return '""'
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, int):
        return str(value)
    text = f"{value:.4g}"
    return text if any(mark in text for mark in ".en") else f"{text}.0"
