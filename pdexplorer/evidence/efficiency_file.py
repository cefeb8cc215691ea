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
# Errors are |predicted / measured - 1| of the fitted group alone; spread_fraction is their root mean square.
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
    """Entries by part as TOML; numbers keep four digits."""
    lines = [header]
    for part, of_part in entries.items():
        for entry in of_part:
            lines.append(f"[[{part}]]")
            record = {field.name: getattr(entry.fit, field.name) for field in fields(entry.fit)}
            record |= {
                field.name: getattr(entry, field.name) for field in fields(entry) if field.name != "fit"
            }
            lines += [f"{key} = {_literal(value)}" for key, value in record.items() if value is not None]
            lines.append("")
    return "\n".join(lines)


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, int):
        return str(value)
    text = f"{value:.4g}"
    return text if any(mark in text for mark in ".en") else f"{text}.0"
