"""The numbers of split fleets, chosen among a few values by the error of the runs that are not left out."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.evidence.serving_predict import Served, ServingNumbers, replay_serving, with_waits
from pdexplorer.evidence.serving_split import SplitNumbers
from pdexplorer.evidence.serving_steps import group_of

_DECODE = (0.4, 0.5, 0.65, 0.8, 1.0)
_PREFILL = (0.5, 0.6, 0.75, 0.9, 1.1, 1.35)
_CHUNKS = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0)
_START = SplitNumbers(prefill_compute=0.75)
_MOST_IN_FLIGHT = 2048
"""Larger runs are scored and not fitted to: each takes as long to replay as all others together."""


def with_split(
    points: Sequence[ServingPoint],
    numbers: ServingNumbers,
    catalog: Catalog,
    leave_out: Sequence[tuple[str, str]] = (),
) -> ServingNumbers:
    """The same numbers and those of split fleets, from measured runs of groups not left out; neutral ones
    where there are none. TPOT decides how fast decode instances are, TTFT the rest.
    """
    own = [point for point in points if _fitted(point) and group_of(point) not in leave_out]
    if not own:
        return numbers

    def error(split: SplitNumbers, replays: Sequence[Served]) -> tuple[float, float]:
        used = replace(numbers, split=split)
        served = [with_waits(p, raw, catalog, used) for p, raw in zip(own, replays, strict=True)]
        pairs = [
            (abs(s.ttft_ms / p.measured_ttft_ms - 1.0), abs(s.tpot_ms / p.measured_tpot_ms - 1.0))
            for s, p in zip(served, own, strict=True)
            if s.ttft_ms and s.tpot_ms and p.measured_ttft_ms and p.measured_tpot_ms
        ]
        ttft, tpot = np.mean(np.array(pairs), axis=0)
        return float(ttft), float(tpot)

    def replayed(split: SplitNumbers) -> list[Served]:
        return replay_serving(own, catalog, numbers.ratios, split)

    decodes = [replace(_START, decode_compute=value) for value in _DECODE]
    decode = min(decodes, key=lambda split: error(split, replayed(split))[1])
    prefills = [replace(decode, prefill_compute=value) for value in _PREFILL]
    replays = {split: replayed(split) for split in prefills}
    best = min(
        product(prefills, _CHUNKS),
        key=lambda pair: error(replace(pair[0], chunk_steps=pair[1]), replays[pair[0]])[0],
    )
    return replace(numbers, split=replace(best[0], chunk_steps=best[1]))


def _fitted(point: ServingPoint) -> bool:
    measured = bool(point.measured_ttft_ms and point.measured_tpot_ms)
    split = point.prefill is not None and not point.problem
    return split and measured and point.concurrency <= _MOST_IN_FLIGHT
