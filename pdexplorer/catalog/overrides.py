"""Catalogue figures set by hand: which may be, and within what bounds."""

import difflib
import math
from collections.abc import Iterable, Mapping

from pdexplorer.catalog.figure import Figure

USER_SOURCE = "set in the scenario"

_MAY_BE_ZERO = ("_overhead_", "_usd", "transfer_setup_ms", "base_latency_us", "tdp_w")


def overridden(
    record_id: str, figures: Mapping[str, Figure], values: Mapping[str, float], allowed: Iterable[str]
) -> dict[str, Figure]:
    """figures with some replaced, their kind `user`. ValueError names key, value and what is allowed."""
    names = list(allowed)
    for field, value in values.items():
        key = f"overrides.{record_id}.{field}"
        if field not in names:
            told = f"{value:g}" if isinstance(value, float) else repr(value)
            raise ValueError(f"{key} = {told} is not a figure of {record_id}; allowed: {', '.join(names)}")
        _check(key, field, value)
    return {
        **figures,
        **{field: Figure(float(value), "user", USER_SOURCE) for field, value in values.items()},
    }


def unknown_id(record_id: str, fields: Mapping[str, float], ids: Iterable[str]) -> ValueError:
    """The error for an override of something the catalogue does not hold."""
    names = sorted(ids)
    close = difflib.get_close_matches(record_id, names, n=3) or names
    return ValueError(
        f"overrides.{record_id} = {dict(fields)!r} names no accelerator, link or engine; "
        f"allowed: {', '.join(close)}" + (" and others" if len(close) < len(names) else "")
    )


def _check(key: str, field: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{key} = {value!r} must be a finite number")
    if value < 0 or (value == 0 and not any(part in field for part in _MAY_BE_ZERO)):
        least = "at least 0" if any(part in field for part in _MAY_BE_ZERO) else "above 0"
        raise ValueError(f"{key} = {value:g} must be {least}")
    if field.endswith("_fraction") and value > 1:
        raise ValueError(f"{key} = {value:g} must be at most 1")
    if field == "scale_up_domain_devices" and (value < 1 or value != int(value)):
        raise ValueError(f"{key} = {value:g} must be a whole number from 1")
    if value > 1e12:
        raise ValueError(f"{key} = {value:g} must be at most 1e12")
