"""Fitted entries written as the catalogue's efficiencies.toml, and the fit of the shipped file."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.evidence.calibration import Calibration, fit
from pdexplorer.evidence.points import read_points
from pdexplorer.evidence.reduce_points import ReducePoint, read_reduce_points

_HEADER = """\
# Shares of the datasheet's ceilings, and fixed kernel times, fitted to measured kernel times.
# Written by pdexplorer.evidence.efficiency_file; refit instead of editing.
# accelerator = "default": all chips of that format and engine together, for those nobody measured.
# Errors are |predicted / measured - 1| of the fitted group alone; spread_fraction is their root mean square,
# rows weighing by the group's share of their step.
"""


def fit_files(
    step_files: Sequence[str | Path], reduce_file: str | Path | None = None, catalog: Catalog | None = None
) -> Calibration:
    """Efficiencies fitted to step files (mixed steps in them are left for scoring) and single all-reduces."""
    catalogue = catalog or load_catalog()
    points = [
        point for path in step_files for point in read_points(path) if point.phase in ("prefill", "decode")
    ]
    reduces: Sequence[ReducePoint] = read_reduce_points(reduce_file) if reduce_file else ()
    return fit(points, catalogue, " and ".join(Path(path).name for path in step_files), reduces)


def to_toml(entries: Mapping[str, Sequence[Any]], header: str = _HEADER) -> str:
    """Entries by part as TOML, one line an entry under its part's columns; numbers keep four digits."""
    sources = {f"s{number}": text for number, text in enumerate(_sources(entries), start=1)}
    keys = {text: key for key, text in sources.items()}
    lines = [header, "[sources]", *(f"{key} = {_literal(text)}" for key, text in sources.items())]
    for part, of_part in entries.items():
        records = [_record(entry, keys) for entry in of_part]
        columns = list(records[0])
        lines += [
            "",
            f"[{part}]",
            f"columns = [{', '.join(_literal(column) for column in columns)}]",
            "rows = [",
        ]
        lines += [f"  [{', '.join(_literal(record[column]) for column in columns)}]," for record in records]
        lines.append("]")
    return "\n".join(lines) + "\n"


def _sources(entries: Mapping[str, Sequence[Any]]) -> list[str]:
    return list(dict.fromkeys(entry.fit.source for of_part in entries.values() for entry in of_part))


def _record(entry: Any, keys: Mapping[str, str]) -> dict[str, Any]:
    record = {f.name: getattr(entry.fit, f.name) for f in fields(entry.fit)}
    record["source"] = keys[entry.fit.source]
    return record | {f.name: getattr(entry, f.name) for f in fields(entry) if f.name != "fit"}


def _literal(value: Any) -> str:
    if value is None:
        return '""'
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, int):
        return str(value)
    text = f"{value:.4g}"
    return text if any(mark in text for mark in ".en") else f"{text}.0"
