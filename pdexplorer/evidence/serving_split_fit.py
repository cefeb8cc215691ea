"""The numbers of split fleets, chosen among a few values by the error of the runs that are not left out."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import ServingNumbers, replay_serving, with_waits
from pdexplorer.evidence.serving_setup import named_outlier
from pdexplorer.evidence.serving_split import SplitNumbers, gathers
from pdexplorer.evidence.serving_steps import group_of

_FACTORS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)
_MOST_IN_FLIGHT = 2500
"""Larger runs are scored and not fitted to: each takes as long to replay as all others together."""


def with_split(
    points: Sequence[ServingPoint],
    numbers: ServingNumbers,
    catalog: Catalog,
    leave_out: Sequence[tuple[str, str]] = (),
) -> ServingNumbers:
    """The same numbers and those of split fleets, from measured runs of groups not left out; neutral ones
    where there are none. TTFT decides, each factor by its own runs or, where there are none, by the others:
    the nearest to 1 that is within a standard error of the best.
    """
    own = [point for point in points if _fitted(point) and group_of(point) not in leave_out]
    if not own:
        return numbers
    errors = np.array([_ttft_errors(own, numbers, catalog, factor) for factor in _FACTORS])
    gathering = np.array([gathers(point) for point in own])

    def best(where: NDArray[np.bool_]) -> float:
        used = errors[:, where if where.any() else ~where]
        means = used.mean(axis=1)
        least = int(np.argmin(means))
        as_good = means <= means[least] + used[least].std() / np.sqrt(used.shape[1])
        return min(
            (f for f, good in zip(_FACTORS, as_good, strict=True) if good), key=lambda f: abs(np.log(f))
        )

    return replace(numbers, split=SplitNumbers(best(~gathering), best(gathering)))


def _ttft_errors(
    points: Sequence[ServingPoint], numbers: ServingNumbers, catalog: Catalog, factor: float
) -> list[float]:
    """|log(predicted / measured)| with one factor for both: TTFT before a pool that has just filled up grows
    without bound, and one such run would outweigh all others.
    """
    used = replace(numbers, split=SplitNumbers(factor, factor))
    replays = replay_serving(points, catalog, used.ratios, used.split)
    served = [with_waits(p, raw, catalog, used) for p, raw in zip(points, replays, strict=True)]
    return [
        abs(float(np.log(s.ttft_ms / p.measured_ttft_ms))) if s.ttft_ms else 1.0
        for s, p in zip(served, points, strict=True)
    ]


def _fitted(point: ServingPoint) -> bool:
    measured = bool(point.measured_ttft_ms and point.measured_tpot_ms)
    split = point.prefill is not None and not point.problem and not named_outlier(point)
    return split and measured and point.concurrency <= _MOST_IN_FLIGHT
