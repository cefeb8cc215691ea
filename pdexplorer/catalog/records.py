"""Reading catalogue TOML: every number must say where it comes from, or the file does not load."""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, get_args

from pdexplorer.catalog.figure import Figure, Kind

KINDS: frozenset[Kind] = frozenset(get_args(Kind))
UNPUBLISHED = Figure(None, "published", "nobody published it where we looked")

Table = Mapping[str, Any]


def data_tables(prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file name, parsed content) of every catalogue file whose name starts with prefix, by name."""
    folder = files("pdexplorer.catalog.data")
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.startswith(prefix) and entry.name.endswith(".toml"):
            yield entry.name, tomllib.loads(entry.read_text(encoding="utf-8"))


def records_of(file: str, content: Table) -> Iterator[tuple[str, Table, Mapping[str, str]]]:
    """(id, record, sources) of each record of a file; its own sources come before those of the file."""
    shared = _sources(file, "sources", content.get("sources", {}))
    for record_id, record in content.items():
        if record_id == "sources":
            continue
        if not isinstance(record, dict):
            raise ValueError(f"{file}: {record_id} = {record!r} stands outside a record")
        own = _sources(file, f"{record_id}.sources", record.get("sources", {}))
        yield record_id, record, {**shared, **own} if own else shared


def labels_of(file: str, record_id: str, record: Table, labels: Mapping[str, type]) -> dict[str, Any]:
    """The values of a record that are no figures (names, notes, lists), of their type; absent is empty."""
    found: dict[str, Any] = {}
    for label, kind in labels.items():
        value = record.get(label, kind())
        if not isinstance(value, kind):
            raise ValueError(f"{file}: {record_id}.{label} = {value!r} must be a {kind.__name__}")
        found[label] = value
    return found


def figures_of(
    file: str,
    record_id: str,
    record: Table,
    sources: Mapping[str, str],
    labels: Iterable[str],
    fields: Iterable[str],
) -> dict[str, Figure]:
    """All numbers of a record by field, in the field's unit; they stand under kind and source.

    Raises ValueError naming file, record and field for a number without kind or source, of an unknown source
    or kind, given twice, or of a field that is neither a label nor listed in fields.
    """
    known, skip = frozenset(fields), frozenset(labels) | {"sources"}
    found: dict[str, Figure] = {}
    for kind, by_source in record.items():
        if kind in skip:
            continue
        if kind not in KINDS or not isinstance(by_source, dict):
            raise ValueError(_unsourced(file, f"{record_id}.{kind}", by_source))
        for source, numbers in by_source.items():
            where = f"{record_id}.{kind}.{source}"
            if not isinstance(numbers, dict):
                raise ValueError(_unsourced(file, where, numbers))
            if source not in sources:
                raise ValueError(f"{file}: {where} is not among its sources: {', '.join(sources)}")
            for field, value in numbers.items():
                if field not in known or field in found:
                    problem = "is given twice" if field in found else "is not a field of this catalogue"
                    raise ValueError(f"{file}: {where}.{field} {problem}")
                if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                    raise ValueError(f"{file}: {where}.{field} = {value!r} must be a finite number")
                found[field] = Figure(float(value), kind, sources[source])
    return found


def _unsourced(file: str, where: str, value: Any) -> str:
    shown = "a table" if isinstance(value, dict) else repr(value)
    return (
        f"{file}: {where} = {shown} has no kind and source: write it as record.kind.source.field, "
        f"kind one of {', '.join(sorted(KINDS))}"
    )


def _sources(file: str, where: str, entry: Any) -> dict[str, str]:
    if not isinstance(entry, dict):
        raise ValueError(f"{file}: {where} = {entry!r} must be a table of id = text")
    for name, text in entry.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{file}: {where}.{name} = {text!r} must say where a number comes from")
    return entry
