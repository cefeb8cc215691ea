"""Efficiencies moved within their measured spread, to see what an answer owes to them."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from pdexplorer.catalog.efficiency import Efficiency
from pdexplorer.physics.instance import Instance
from pdexplorer.study.search.space import Space

Key = tuple[str, str, str]
"""(accelerator id, part of the efficiency, `compute` or `memory`)."""

_COMPUTE = ("mfu", "prefill_mfu", "decode_mfu")
_MEMORY = ("mbu", "decode_mbu", "bandwidth_fraction", "direct_fraction")
_TIMES = (
    "launch_s",
    "prefill_launch_s",
    "decode_launch_s",
    "decode_head_s",
    "serial_key_s",
    "ep_launch_s",
    "latency_s",
)


def spreads(space: Space) -> dict[Key, float]:
    """One standard deviation of time, as a fraction, of every fitted number in play; zeros left out."""
    found: dict[Key, float] = {}
    for instance in (*space.colocated, *space.prefill, *space.decode):
        for field in fields(Efficiency):
            part = getattr(instance.efficiency, field.name)
            if part.fit.spread_fraction > 0.0 and _counts(instance, field.name):
                for side in ("compute", "memory"):
                    found[instance.accelerator.id, field.name, side] = float(part.fit.spread_fraction)
    return dict(sorted(found.items()))


def draw_factors(spread: Mapping[Key, float], seed: int, draw: int) -> dict[Key, float]:
    """Factors on time, log-normal, one for each number: pools of one accelerator share theirs."""
    z = np.random.default_rng([seed, draw]).standard_normal(len(spread))
    return {key: float(np.exp(value * each)) for (key, value), each in zip(spread.items(), z, strict=True)}


def with_factors(instance: Instance, factors: Mapping[Key, float]) -> Instance:
    """The instance with each part's compute and memory side taking that many times as long."""
    parts = {}
    for field in fields(Efficiency):
        key = instance.accelerator.id, field.name
        compute, memory = factors.get((*key, "compute"), 1.0), factors.get((*key, "memory"), 1.0)
        if compute != 1.0 or memory != 1.0:
            parts[field.name] = slower(getattr(instance.efficiency, field.name), compute, memory)
    return replace(instance, efficiency=replace(instance.efficiency, **parts))


def slower(part: Any, compute: float, memory: float) -> Any:
    """One part with its compute and its memory side taking that many times as long; launches as memory."""
    changed = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name in _COMPUTE:
            changed[field.name] = value / compute
        elif field.name in _MEMORY:
            changed[field.name] = value / memory
        elif field.name in _TIMES:
            changed[field.name] = value * memory
    return replace(part, **changed)


def _counts(instance: Instance, part: str) -> bool:
    """Whether a part takes any time on this instance."""
    if part == "experts":
        return instance.architecture.experts > 0
    return part != "collective" or instance.parallelism.gpus > 1
