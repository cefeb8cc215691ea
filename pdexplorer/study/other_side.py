"""What the decision is beyond each break-even: a flip says what to do on the other side of it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pdexplorer.metrics.money import price_of
from pdexplorer.study import words
from pdexplorer.study.search.axes import current
from pdexplorer.study.search.space import Space
from pdexplorer.verdict import BreakEven, Decision, Verdict

_PRICE = "money.usd_per_hour."


def with_other_side(flips: Sequence[BreakEven], verdict: Verdict, space: Space) -> tuple[BreakEven, ...]:
    """Each flip with the decision beyond it, seen from where the scenario stands, and its words; the nearest
    first, as a ratio to where it stands, then those without a ratio, then settings that flip nothing.

    A setting without a value of its own (an unpriced accelerator) stands where the verdict does: on the side
    that pays only if the verdict is to disaggregate.
    """
    ordered = sorted(flips, key=lambda flip: _distance(flip, _own(flip.key, space)))
    return tuple(_beyond(flip, verdict, space) for flip in ordered)


def _distance(flip: BreakEven, own: float | None) -> tuple[bool, float]:
    if flip.value is None or not own or own < 0.0 or flip.value <= 0.0:
        return flip.value is None, math.inf
    return False, abs(math.log(flip.value / own))


def _beyond(flip: BreakEven, verdict: Verdict, space: Space) -> BreakEven:
    if flip.value is None or flip.direction is None:
        return flip
    own = _own(flip.key, space)
    above = flip.direction == "above"
    pays_here = verdict.decision == "disaggregate"
    if own is not None:
        pays_here = (own > flip.value) == above
    then: Decision = "stay_colocated"
    if not pays_here:
        then = "disaggregate" if verdict.decision == "benchmark_first" else "benchmark_first"
    side: Literal["above", "below"] = "above" if above != pays_here else "below"
    text = words.beyond(then, side, flip.key, flip.value, flip.unit)
    return replace(flip, then=then, then_direction=side, text=text)


def _own(key: str, space: Space) -> float | None:
    if key.startswith(_PRICE):
        device = space.catalog.accelerators[key.removeprefix(_PRICE)]
        return price_of(device, space.scenario.money).usd_per_hour
    return current(space.scenario, space.catalog, key)
