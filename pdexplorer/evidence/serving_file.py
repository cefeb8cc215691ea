"""Fitted serving numbers written as the catalogue's efficiencies_serving.toml."""

from collections.abc import Mapping
from dataclasses import fields

from pdexplorer.evidence.serving_predict import ServingNumbers
from pdexplorer.evidence.serving_split import SplitNumbers
from pdexplorer.physics.serving import NUMBERS

_HEADER = """\
# What serving adds to kernel times, fitted to measured closed-loop runs; see physics/serving.py.
# Written by pdexplorer.evidence.serving_file; refit instead of editing.
# Ratios are serving time over table time of a group of kernels; those of a class of models multiply them,
# "hopper fp8" is a family and a format, "vllm dense" an engine and a class.
# Errors are |predicted / measured - 1| of TPOT on the runs fitted to, spread_fraction their root mean square.
"""


def serving_toml(numbers: ServingNumbers) -> str:
    """The numbers of a fit as TOML."""
    ratios = numbers.ratios
    table = {name: getattr(ratios.kernels, name) for name in NUMBERS}
    record = ("kind", "source", "points", "median_error_fraction", "p90_error_fraction", "spread_fraction")
    rest = {name: getattr(ratios, name) for name in ("young", *record)}
    waits = {"kind": ratios.kind, "source": ratios.source, "draft_acceptance": numbers.draft_acceptance}
    sections: dict[str, Mapping[str, object]] = {
        "kernels": {**table, **rest},
        **{f"by_class.{name}": factors for name, factors in ratios.by_class.items()},
        "compute_by_format": ratios.compute_by_format,
        "overhead": ratios.overhead,
        "waits": waits,
        "waits.request_s": numbers.request_s,
        "waits.compile_s": numbers.compile_s,
        "waits.split": {entry.name: getattr(numbers.split, entry.name) for entry in fields(SplitNumbers)},
    }
    return _HEADER + "".join(_section(name, values) for name, values in sections.items())


def _section(name: str, values: Mapping[str, object]) -> str:
    lines = [f"{_key(key)} = {_literal(value)}" for key, value in values.items()]
    return f"\n[{name}]\n" + "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return f'"{name}"' if " " in name else name


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.4g}" if isinstance(value, float) else str(value)
