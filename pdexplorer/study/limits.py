"""Why a design cannot hold the limits even almost idle: the limit, and the number that breaks it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.colocated import colocated_flow
from pdexplorer.steady.colocated_capacity import colocated_attainment, colocated_wait, in_flight_bounds
from pdexplorer.steady.disaggregated import decode_tpot, disaggregated_flow
from pdexplorer.steady.load import Load
from pdexplorer.steady.split_parts import decode_flow
from pdexplorer.study import words
from pdexplorer.study.score import ColocatedScore, DisaggregatedScore

Array = NDArray[np.float64]


def colocated_limits(score: ColocatedScore) -> Mapping[tuple[int, int], Infeasible]:
    """By (instance, budget), for those that cannot."""
    designs, load = score.designs, score.designs.load
    if bool(score.fits.all()):
        return {}
    low, _ = in_flight_bounds(designs)
    flow = colocated_flow(designs, low)
    alone = colocated_wait(designs, flow, np.full((1, 1, 1, 1), 1e6))
    _, first, later = colocated_attainment(designs, flow, alone)
    found = {}
    for i, c in zip(*np.nonzero(~score.fits[:, :, 0, 0]), strict=True):
        after = float(np.broadcast_to(alone.after_s, designs.shape)[i, c, 0, 0])
        ttft = after + quantile(load, flow.service_s[:, i, c, 0, 0])
        found[int(i), int(c)] = _limit(
            load, float(first[i, c, 0, 0]), float(later[i, c, 0, 0]), ttft, float(flow.tpot_s[i, c, 0, 0])
        )
    return found


def disaggregated_limits(score: DisaggregatedScore) -> Mapping[tuple[int, int], Infeasible]:
    """By (prefill, decode) pair, for those that cannot."""
    designs, load = score.designs, score.designs.load
    if bool(score.fits.all()):
        return {}
    shape = designs.shape
    many = np.full((1, 1, 1, 1), 1e6)
    decode = decode_flow(designs, np.full((1, *shape[1:]), 0.02), many)
    rate = np.broadcast_to(1e-4 / designs.full_s, shape)
    flow = disaggregated_flow(designs, rate, many, decode)
    weight = load.weight[:, None, None, None, None]
    later = np.broadcast_to((weight * decode_tpot(designs, decode, 0.0)).sum(axis=0), shape)
    found = {}
    for p, d in zip(*np.nonzero(~score.fits[:, :, 0, 0]), strict=True):
        service = np.broadcast_to(flow.service_s, (len(load.weight), *shape))[:, p, d, 0, 0]
        ttft = float(np.broadcast_to(flow.after_s, shape)[p, d, 0, 0]) + quantile(load, service)
        step = float(np.broadcast_to(decode.step_s, shape)[p, d, 0, 0])
        first = float(np.broadcast_to(load.over(flow.first_by_class), shape)[p, d, 0, 0])
        found[int(p), int(d)] = _limit(load, first, float(later[p, d, 0, 0]), ttft, step)
    return found


def _limit(load: Load, first: float, later: float, ttft_s: float, tpot_s: float) -> Infeasible:
    needed = load.percentile_fraction
    if later < needed:
        return words.tpot_alone(tpot_s, float(load.tpot_limit_s.item()), needed)
    if first < needed:
        limit = float(load.ttft_limit_s.item())
        if ttft_s <= limit:
            return words.e2e_alone(float(load.e2e_limit_s.item()), needed)
        return words.ttft_alone(ttft_s, limit, needed)
    return words.memory_alone(float(load.context_tokens.item()))


def quantile(load: Load, service_s: Array) -> float:
    """Of the classes' service times at the SLO's percentile; each class spreads over its share of the
    lengths.
    """
    order = np.argsort(service_s)
    upper = np.cumsum(load.weight[order])
    edge = service_s[order] * load.high_ratio[order]
    return float(np.interp(load.percentile_fraction, upper, np.maximum.accumulate(edge)))
