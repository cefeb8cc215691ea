"""Which sources a set of accelerators, links, models and engines rests on."""

from collections.abc import Iterable
from dataclasses import dataclass

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.figure import Figure, Kind

# Longest first: `_usd_per_hour_typical` before `_usd`.
_UNITS = {
    "_gb_per_s_per_direction": "GB/s per direction",
    "_gb_per_s": "GB/s",
    "_gbit_per_s": "Gbit/s",
    "_usd_per_hour": "$/h",
    "_usd": "$",
    "_gb": "GB",
    "_mib": "MiB",
    "_ms": "ms",
    "_us": "µs",
    "_w": "W",
}


@dataclass(frozen=True, slots=True)
class Provenance:
    """One number: of what, which, its value in `unit` (None: unpublished), and where it comes from."""

    id: str
    field: str
    value: float | None
    unit: str
    kind: Kind
    source: str


def provenance(catalog: Catalog, ids: Iterable[str]) -> list[Provenance]:
    """Every figure of the named records in their order; a model is one row, as its counts share a source.

    Raises ValueError for an id the catalogue does not hold.
    """
    rows: list[Provenance] = []
    for key in dict.fromkeys(ids):
        if record := catalog.model_records.get(key):
            params = record.architecture.published_params
            rows.append(Provenance(key, "architecture", params, "parameters", record.kind, record.source))
            continue
        holder = catalog.accelerators.get(key) or catalog.links.get(key) or catalog.engines.get(key)
        if holder is None:
            raise ValueError(f"{key!r} is no accelerator, link, model or engine of the catalogue")
        rows += [_row(key, field, figure) for field, figure in holder.figures.items()]
    return rows


def unit_of(field: str) -> str:
    """The unit a field's name says; empty for plain counts and fractions."""
    if "tflops" in field:
        return "TFLOP/s"
    if field.startswith("tops_"):
        return "TOP/s"
    return next((unit for part, unit in _UNITS.items() if field.endswith(part) or f"{part}_" in field), "")


def _row(key: str, field: str, figure: Figure) -> Provenance:
    return Provenance(key, field, figure.value, unit_of(field), figure.kind, figure.source)
