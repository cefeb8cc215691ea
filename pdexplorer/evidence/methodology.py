"""What the page says of accuracy: stored error table, its rows as a small sample, and one line for the
verdict.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from pdexplorer.catalog.effects import fitted_count
from pdexplorer.catalog.efficiency import fitted_document
from pdexplorer.physics.serving import load_serving_ratios, serving_document

ACCURACY_FILE = "accuracy.toml"
SAMPLE_FILE = "accuracy_sample.csv"


@dataclass(frozen=True, slots=True)
class StoredError:
    """Errors of one file, split and quantity. held_out: the numbers had not seen the rows' group."""

    file: str
    split: str
    quantity: str
    held_out: bool
    rows: int
    answered: int
    median: float
    mean: float
    p90: float
    mean_log_ratio: float


@dataclass(frozen=True, slots=True)
class StoredAccuracy:
    """The errors measured last, with date, model version and the number of fitted numbers."""

    measured: str
    model_version: str
    fitted_numbers: Mapping[str, int]
    errors: tuple[StoredError, ...]


@dataclass(frozen=True, slots=True)
class MethodologyRow:
    """One measured row beside its prediction, for a chart of predicted over measured."""

    quantity: str
    system: str
    engine: str
    model: str
    measured_ms: float
    predicted_ms: float
    held_out: bool


@cache
def load_accuracy() -> StoredAccuracy:
    """The table shipped with the package."""
    document = tomllib.loads(_text(ACCURACY_FILE))
    errors = tuple(StoredError(**record) for record in document["errors"])
    return StoredAccuracy(
        document["measured"], document["model_version"], dict(document["fitted_numbers"]), errors
    )


@cache
def methodology_rows() -> tuple[MethodologyRow, ...]:
    """A sample of scored rows of the measured files, as predicted when the table was written."""
    return tuple(
        MethodologyRow(
            quantity=row["quantity"],
            system=row["system"],
            engine=row["engine"],
            model=row["model"],
            measured_ms=float(row["measured_ms"]),
            predicted_ms=float(row["predicted_ms"]),
            held_out=row["held_out"] == "yes",
        )
        for row in csv.DictReader(_text(SAMPLE_FILE).splitlines())
    )


def parameter_counts() -> dict[str, int]:
    """Fitted numbers the shipped predictions rest on: from kernel times and from serving runs."""
    waits = serving_document()["waits"]
    serving = load_serving_ratios().count + len(waits["request_s"]) + len(waits["compile_s"]) + 1
    serving += len(waits["split"])
    return {"kernels": fitted_count(fitted_document()), "serving": serving}


def accuracy_toml(
    measured: str, model_version: str, errors: Sequence[StoredError], counts: Mapping[str, int]
) -> str:
    """The stored table as TOML; kind is measured."""
    lines = [
        "# Errors |predicted / measured - 1| of the measured files; an unanswered row counts as 1.",
        "# kind: measured. Written by pdexplorer.evidence.methodology; measure again instead of editing.",
        f'measured = "{measured}"',
        f'model_version = "{model_version}"',
        "fitted_numbers = { " + ", ".join(f"{key} = {value}" for key, value in counts.items()) + " }",
    ]
    for error in errors:
        lines += [
            "",
            "[[errors]]",
            *(f"{f.name} = {_literal(getattr(error, f.name))}" for f in fields(error)),
        ]
    return "\n".join(lines) + "\n"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _text(name: str) -> str:
    return files("pdexplorer.evidence.data").joinpath(name).read_text(encoding="utf-8")
