"""Model records of the catalogue: counts of one config.json each, with one source a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.figure import Kind
from pdexplorer.catalog.records import KINDS, Table, records_of

_LABELS = ("like", "hf_id", "source", "kind", "notes")


@dataclass(frozen=True)
class ModelRecord:
    """One model: what it is made of, and where its counts were read (kind as in Figure)."""

    id: str
    hf_id: str
    architecture: Architecture
    source: str
    kind: Kind
    notes: str = ""


def read_models(tables: Mapping[str, Table]) -> dict[str, ModelRecord]:
    """Models of all files (name -> parsed content) by id.

    `like` takes the counts of another record, of any file; what a record gives itself comes first.
    ValueError names file, record and field.
    """
    rows = {
        record_id: (file, dict(record))
        for file, content in tables.items()
        for record_id, record, _ in records_of(file, content)
    }
    return {record_id: _model(record_id, file, row, rows) for record_id, (file, row) in rows.items()}


def _model(
    record_id: str, file: str, row: Mapping[str, Any], rows: Mapping[str, tuple[str, Mapping[str, Any]]]
) -> ModelRecord:
    for label in ("source", "kind"):
        if not row.get(label):
            raise ValueError(
                f"{file}: {record_id}.{label} is missing: every record says where its counts come from"
            )
    if row["kind"] not in KINDS:
        raise ValueError(
            f"{file}: {record_id}.kind = {row['kind']!r} must be one of {', '.join(sorted(KINDS))}"
        )
    counts = {key: value for key, value in row.items() if key not in _LABELS}
    if base := row.get("like"):
        if base not in rows or "like" in rows[base][1]:
            raise ValueError(f"{file}: {record_id}.like = {base!r} must be a model that gives its own counts")
        counts = {key: value for key, value in rows[base][1].items() if key not in _LABELS} | counts
    try:
        architecture = Architecture.model_validate(counts)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{file}: {record_id}.{where}: {first['msg']}") from error
    return ModelRecord(
        record_id, row.get("hf_id", ""), architecture, row["source"], row["kind"], row.get("notes", "")
    )
