"""From idle to overload: what both fleets deliver at each rate, at equal cost, and where splitting wins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.steady.load import Load, load_of
from pdexplorer.study.at_rates import AtRates, colocated_at_rates, disaggregated_at_rates, open_scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.search.score import (
    DisaggregatedScore,
    colocated_cost,
    disaggregated_cost,
    score_colocated,
    score_disaggregated,
)
from pdexplorer.study.search.space import Space, design_space

Array = NDArray[np.float64]

_RATES = 48
_OVERLOAD = 1.4
_AHEAD = 1.02


@dataclass(frozen=True, slots=True)
class RegimeRow:
    """One fleet at one rate of the whole demand."""

    fleet: str
    rate_per_s: float
    goodput_per_s: float
    attainment_fraction: float
    ttft_mean_s: float
    tpot_mean_s: float
    overloaded: bool


@dataclass(frozen=True)
class Regimes:
    """Both fleets scaled, unrounded, to the dearer one's cost (size in size_unit). knee: the largest rate at
    which a fleet still meets the SLO. windows: (low, high) rates in which splitting has 2% more goodput.
    """

    rows: tuple[RegimeRow, ...]
    colocated_knee_per_s: float
    disaggregated_knee_per_s: float
    windows: tuple[tuple[float, float], ...]
    size: float
    size_unit: str
    text: str


@dataclass(frozen=True, slots=True)
class ParetoRow:
    """The best design of one kind at one TPOT limit, TTFT limit held; None where no design meets it."""

    fleet: str
    tpot_limit_s: float
    tokens_per_s_per_user: float
    output_tokens_per_s_per_gpu: float | None


def regimes(evaluation: Evaluation, catalog: Catalog | None = None, points: int = _RATES) -> Regimes | None:
    """None where one of the fleets cannot run at all."""
    one, other = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    if one is None or other is None or evaluation.scenario.workload.mode == "offline":
        return None
    scenario = open_scenario(evaluation.scenario)
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    priced = evaluation.colocated.cost_usd_per_hour, evaluation.disaggregated.cost_usd_per_hour
    dollars = priced[0] is not None and priced[1] is not None
    costs = tuple(float(c or 0.0) for c in priced) if dollars else (float(one.gpus), float(other.gpus))
    cost = max(costs)
    scales = cost / costs[0], cost / costs[1]
    reach = peak = scenario.workload.rate_per_s * scenario.workload.peak_to_mean_ratio
    for _ in range(3):
        rates = np.linspace(reach * 0.02, reach * _OVERLOAD, points)
        rates[np.abs(rates - peak).argmin()] = peak  # where the verdict looks, so that both can be compared
        sides = (
            colocated_at_rates(scenario, catalog, one, rates, scales[0]),
            disaggregated_at_rates(scenario, catalog, other, rates, scales[1]),
        )
        knees = [_knee(side, scenario.slo.percentile / 100.0) for side in sides]
        if max(knees) < rates[-1] / 1.15:
            break
        reach *= 2.0
    rows = (*_rows("colocated", sides[0]), *_rows("disaggregated", sides[1]))
    windows = _windows(sides[0], sides[1])
    return Regimes(rows, knees[0], knees[1], windows, cost, "USD/h" if dollars else "GPUs", _text(windows))


def pareto(
    evaluation: Evaluation, catalog: Catalog | None = None, tpot_limits_s: Array | None = None
) -> tuple[ParetoRow, ...]:
    """tok/s/GPU against tok/s/user of both kinds, best design at each point, unrounded scale."""
    scenario = evaluation.scenario
    if scenario.workload.mode == "offline":
        return ()
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    limits = np.geomspace(0.004, 0.2, 25) if tpot_limits_s is None else np.asarray(tpot_limits_s, float)
    space = design_space(scenario, catalog)
    load = load_of(scenario, {"slo.tpot_ms": limits[None, :] * 1e3})
    tokens = float(load.mean(load.output_tokens).item())
    costs = {
        "colocated": colocated_cost(space, score_colocated(space, load), False),
        "disaggregated": disaggregated_cost(space, _split(space, load), False),
    }
    rows = []
    for name, cost in costs.items():
        for limit, gpus in zip(limits, np.broadcast_to(cost, (1, len(limits)))[0], strict=True):
            per_gpu = tokens / float(gpus) if np.isfinite(gpus) and gpus > 0.0 else None
            rows.append(ParetoRow(name, float(limit), 1.0 / float(limit), per_gpu))
    return tuple(rows)


def _split(space: Space, load: Load) -> DisaggregatedScore | None:
    found = score_disaggregated(space, load)
    return None if isinstance(found, Infeasible) else found


def _rows(fleet: str, side: AtRates) -> list[RegimeRow]:
    return [
        RegimeRow(
            fleet,
            float(side.rate_per_s[i]),
            float(side.goodput_per_s[i]),
            float(side.attainment_fraction[i]),
            float(side.ttft_mean_s[i]),
            float(side.tpot_mean_s[i]),
            bool(side.overloaded[i]),
        )
        for i in range(len(side.rate_per_s))
    ]


def _knee(side: AtRates, percentile_fraction: float) -> float:
    """Largest rate with the SLO held, between two points by interpolation; 0 where none holds it."""
    held = side.attainment_fraction >= percentile_fraction
    if not held.any():
        return 0.0
    last = int(np.nonzero(held)[0][-1])
    if last + 1 == len(held):
        return float(side.rate_per_s[-1])
    a, b = side.attainment_fraction[last], side.attainment_fraction[last + 1]
    part = 0.5 if side.overloaded[last + 1] else (a - percentile_fraction) / max(a - b, 1e-12)
    return float(side.rate_per_s[last] + part * (side.rate_per_s[last + 1] - side.rate_per_s[last]))


def _windows(one: AtRates, other: AtRates) -> tuple[tuple[float, float], ...]:
    ahead = (other.goodput_per_s > _AHEAD * one.goodput_per_s) & (other.goodput_per_s > 0.0)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], ahead, [False])).astype(int)))
    rates = one.rate_per_s
    return tuple((float(rates[a]), float(rates[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True))


def _text(windows: tuple[tuple[float, float], ...]) -> str:
    if not windows:
        return "At equal cost splitting delivers more at no load."
    spans = " and ".join(f"{low:.3g}–{high:.3g}" for low, high in windows)
    return f"At equal cost splitting delivers more goodput at {spans} requests/s."
