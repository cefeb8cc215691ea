"""Fitted numbers as one base times effects: what a chip, its family, an engine or a format changes about it.

A number is stored once per effect, not once per chip, engine and format: {"base": 0.77, "family blackwell":
0.91, "kernel vllm fp8_block": 0.61}. A kernel is an engine's way of one format.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Effects = Mapping[str, float]
"""Factors by level; `base` is the value before any of them."""

BASE = "base"
_AT_MOST: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("small_launch_ratio", "mfu", "mbu", "prefill_mfu", "decode_mfu", "decode_mbu"), 1.0)
)
"""Numbers with a bound: nothing beats the datasheet, and no larger batch launches faster than a small one."""


def levels_of(accelerator: str, family: str, engine: str, fmt: str) -> dict[str, str]:
    """What effects may be of, by kind: the level an entry of this chip, engine and format has."""
    return {
        "accelerator": accelerator,
        "family": family,
        "engine": engine,
        "format": fmt,
        "kernel": f"{engine} {fmt}",
    }


def number_value(name: str, effects: Effects, levels: Mapping[str, str]) -> float:
    """The number at these levels; an effect that is not stored changes nothing."""
    value = effects[BASE]
    for kind, level in levels.items():
        value *= effects.get(f"{kind} {level}", 1.0)
    return min(value, _AT_MOST.get(name, value))


def bounded(values: Mapping[str, float]) -> dict[str, float]:
    """Numbers by name, none above its bound."""
    return {name: min(value, _AT_MOST.get(name, value)) for name, value in values.items()}


def records_of_section(section: Mapping[str, Any], sources: Mapping[str, str]) -> list[dict[str, Any]]:
    """A section's rows with its numbers worked out for each; source names are replaced by their texts."""
    columns, numbers = section["columns"], section.get("numbers", {})
    records = []
    for row in section["rows"]:
        record = dict(zip(columns, row, strict=True))
        record["source"] = sources.get(record["source"], record["source"])
        levels = levels_of(record["accelerator"], record["family"], record["engine"], record["format"])
        record |= {name: number_value(name, effects, levels) for name, effects in numbers.items()}
        records.append(record)
    return records


def fitted_count(document: Mapping[str, Any]) -> int:
    """How many fitted numbers a document of efficiencies stores: bases and effects."""
    return sum(
        len(effects)
        for section in document.values()
        if isinstance(section, Mapping)
        for effects in section.get("numbers", {}).values()
    )
