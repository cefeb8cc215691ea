"""Link and engine records of the catalogue, and how their figures become SI values."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pdexplorer.catalog.engine import EngineProfile
from pdexplorer.catalog.figure import Figure
from pdexplorer.catalog.hardware import Link
from pdexplorer.catalog.records import Table, figures_of, labels_of, records_of
from pdexplorer.units import GB, MS, US, gbit_per_s_to_byte_per_s

LINK_REQUIRED = ("line_rate_gbit_per_s", "effective_fraction", "transfer_setup_ms", "base_latency_us")
LINK_FIELDS = (*LINK_REQUIRED, "node_cap_gb_per_s")
ENGINE_FIELDS = ("step_overhead_ms", "layer_overhead_us", "request_overhead_ms")

_LINK_LABELS: dict[str, type] = {"name": str, "kind": str, "rdma": bool, "notes": str}
_ENGINE_LABELS: dict[str, type] = {"name": str, "chunked": bool, "cuda_graphs": bool, "notes": str}


def read_links(file: str, content: Table) -> dict[str, Link]:
    """Links of one parsed file by id. ValueError names file, record and field."""
    found: dict[str, Link] = {}
    for record_id, record, sources in records_of(file, content):
        labels = labels_of(file, record_id, record, _LINK_LABELS)
        figures = figures_of(file, record_id, record, sources, _LINK_LABELS, LINK_FIELDS)
        _all_there(file, record_id, figures, LINK_REQUIRED)
        found[record_id] = Link(id=record_id, **labels, figures=figures, **_link_si(figures))
    return found


def read_engines(file: str, content: Table) -> dict[str, EngineProfile]:
    """Engines of one parsed file by id. ValueError names file, record and field."""
    found: dict[str, EngineProfile] = {}
    for record_id, record, sources in records_of(file, content):
        labels = labels_of(file, record_id, record, _ENGINE_LABELS)
        figures = figures_of(file, record_id, record, sources, _ENGINE_LABELS, ENGINE_FIELDS)
        _all_there(file, record_id, figures, ENGINE_FIELDS)
        found[record_id] = EngineProfile(id=record_id, **labels, figures=figures, **_engine_si(figures))
    return found


def link_with_figures(link: Link, figures: Mapping[str, Figure]) -> Link:
    """The same link with other figures; its SI values follow."""
    return replace(link, figures=figures, **_link_si(figures))


def engine_with_figures(engine: EngineProfile, figures: Mapping[str, Figure]) -> EngineProfile:
    """The same engine with other figures; its SI values follow."""
    return replace(engine, figures=figures, **_engine_si(figures))


def _link_si(figures: Mapping[str, Figure]) -> dict[str, Any]:
    line = _value(figures, "line_rate_gbit_per_s")
    cap = figures.get("node_cap_gb_per_s")
    return {
        "line_rate_gbit_per_s": line,
        "byte_per_s": gbit_per_s_to_byte_per_s(line),
        "effective_fraction": _value(figures, "effective_fraction"),
        # What a transfer pays before its first byte: the engines' handshake dwarfs the wire's own latency.
        "latency_s": _value(figures, "transfer_setup_ms") * MS + _value(figures, "base_latency_us") * US,
        "node_cap_byte_per_s": None if cap is None or cap.value is None else cap.value * GB,
    }


def _engine_si(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {
        "step_overhead_s": _value(figures, "step_overhead_ms") * MS,
        "layer_overhead_s": _value(figures, "layer_overhead_us") * US,
        "request_overhead_s": _value(figures, "request_overhead_ms") * MS,
    }


def _value(figures: Mapping[str, Figure], field: str) -> float:
    value = figures[field].value
    if value is None:
        raise ValueError(f"{field} has no value")
    return value


def _all_there(file: str, record_id: str, figures: Mapping[str, Figure], fields: Iterable[str]) -> None:
    for field in fields:
        if field not in figures:
            raise ValueError(f"{file}: {record_id}.{field} is missing")
