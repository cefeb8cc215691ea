"""P:D ratios around the best: what each carries and costs, what one more instance brings, and a spare."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.metrics.money import fleet_price
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.at_rates import AtRates, colocated_at_rates, disaggregated_at_rates, open_scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.progress import Report, counted, span, unheard

Rates = NDArray[np.float64]

AROUND = 2
_POINTS = 31
_PLENTY = 64
_MOST_COUNTS = 512


@dataclass(frozen=True, slots=True)
class SizingRow:
    """A fleet of whole instances at the demand. prefill, decode: instances; a colocated fleet has only
    `colocated`. capacity_per_s: the largest rate at which it holds every limit. meets: whether it does at the
    demand.
    """

    fleet: str
    prefill: int
    decode: int
    colocated: int
    gpus: int
    usd_per_hour: float | None
    attainment_fraction: float
    capacity_per_s: float
    meets: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class SpareRow:
    """One more instance of a pool. alone: the pool has a single instance, so its loss stops the fleet.
    capacity_gain_fraction: what it adds to what the fleet carries while nothing is broken.
    """

    pool: str
    instances: int
    alone: bool
    added_gpus: int
    added_usd_per_hour: float | None
    capacity_gain_fraction: float
    text: str


@dataclass(frozen=True)
class SizingTable:
    """ratios: the split around its best, row by row of prefill instances. spares: N+1 of every pool. owned:
    what to do with as many GPUs as compare.gpus says, the fleet that carries most first.
    """

    demand_per_s: float
    ratios: tuple[SizingRow, ...]
    spares: tuple[SpareRow, ...]
    owned: tuple[SizingRow, ...]


def sizing_table(
    evaluation: Evaluation,
    catalog: Catalog | None = None,
    around: int = AROUND,
    report: Report = unheard,
) -> SizingTable | None:
    """None where there is no split, or no rate to size for. report: told the share done."""
    fleet = evaluation.disaggregated_fleet
    if fleet is None or evaluation.scenario.workload.mode == "offline":
        return None
    scenario, catalog = _setup(evaluation, catalog)
    demand = _demand(evaluation, scenario)
    here = (fleet.prefill_instances, fleet.decode_instances)
    pairs = [
        (p, d)
        for p in range(max(1, here[0] - around), here[0] + around + 1)
        for d in range(max(1, here[1] - around), here[1] + around + 1)
    ]
    rows = {
        (p, d): _split_row(scenario, catalog, _with(fleet, p, d), demand, (p, d) == here)
        for p, d in counted(pairs, span(report, 0.0, 0.8))
    }
    one = evaluation.colocated_fleet
    spares = [_spare("prefill", rows[here], rows[here[0] + 1, here[1]])]
    spares.append(_spare("decode", rows[here], rows[here[0], here[1] + 1]))
    if one is not None:
        now = _colocated_row(scenario, catalog, one, demand, True)
        more = _colocated_row(scenario, catalog, replace(one, instances=one.instances + 1), demand, False)
        spares.append(_spare("colocated", now, more))
    owned = with_gpus(evaluation, evaluation.scenario.compare.gpus, catalog)
    return SizingTable(demand, tuple(rows[key] for key in sorted(rows)), tuple(spares), owned)


def with_gpus(
    evaluation: Evaluation, gpus: int, catalog: Catalog | None = None, most: int = 5
) -> tuple[SizingRow, ...]:
    """What to do with the GPUs one has, in instances of the chosen kinds: the colocated fleet and the splits
    that carry most, best first. Empty where neither kind fits into them.
    """
    scenario, catalog = _setup(evaluation, catalog)
    demand = _demand(evaluation, scenario)
    rows = []
    one, fleet = evaluation.colocated_fleet, evaluation.disaggregated_fleet
    if one is not None and gpus >= one.instance.gpus:
        count = gpus // one.instance.gpus
        rows.append(_colocated_row(scenario, catalog, replace(one, instances=count), demand, False))
    if fleet is not None:
        found = []
        for p in range(1, min(gpus // fleet.prefill.gpus, _MOST_COUNTS) + 1):
            d = (gpus - p * fleet.prefill.gpus) // fleet.decode.gpus
            if d >= 1:
                found.append((p, d))
        balance = _balance(scenario, catalog, fleet)
        found.sort(key=lambda pair: -min(pair[0] * balance, pair[1]))
        for p, d in found[:most]:
            rows.append(_split_row(scenario, catalog, _with(fleet, p, d), demand, False))
    return tuple(sorted(rows, key=lambda row: -row.capacity_per_s))


def _setup(evaluation: Evaluation, catalog: Catalog | None) -> tuple[Scenario, Catalog]:
    scenario = open_scenario(evaluation.scenario)
    return scenario, (catalog or load_catalog()).with_overrides(scenario.overrides)


def _demand(evaluation: Evaluation, scenario: Scenario) -> float:
    """Peak requests per second; what the fleet serves where it was sized for a closed loop or a budget."""
    served = evaluation.disaggregated.throughput_per_s
    own = scenario.workload.rate_per_s * scenario.workload.peak_to_mean_ratio
    open_demand = evaluation.scenario.workload.arrivals != "closed_loop"
    sized = evaluation.scenario.compare.basis in ("least_cost", "fixed_fleets")
    return own if (open_demand and sized) or served is None else served


def _with(fleet: DisaggregatedFleet, prefill: int, decode: int) -> DisaggregatedFleet:
    return replace(fleet, prefill_instances=prefill, decode_instances=decode)


def _balance(scenario: Scenario, catalog: Catalog, fleet: DisaggregatedFleet) -> float:
    """Decode instances that one prefill instance keeps busy, from pools that have plenty of the other."""
    n_p, n_d = fleet.prefill_instances, fleet.decode_instances
    rows = [
        _split_row(scenario, catalog, _with(fleet, p, d), _reach(scenario), False)
        for p, d in ((n_p, n_d * _PLENTY), (n_p * _PLENTY, n_d))
    ]
    each = rows[0].capacity_per_s / n_p, rows[1].capacity_per_s / n_d
    return each[0] / each[1] if min(each) > 0.0 else n_d / n_p


def _reach(scenario: Scenario) -> float:
    return scenario.workload.rate_per_s * scenario.workload.peak_to_mean_ratio


def _capacity(scenario: Scenario, at: Callable[[Rates], AtRates], demand: float) -> float:
    """The largest rate with every limit held, bracketed by a scan and then by a finer one."""
    rates = demand * np.geomspace(0.05, 20.0, _POINTS)
    for _ in range(2):
        held = np.nonzero(at(rates).attainment_fraction >= scenario.slo.percentile / 100.0)[0]
        if not len(held):
            return 0.0
        last = int(held[-1])
        best = float(rates[last])
        if last + 1 == len(rates):
            return best
        rates = np.linspace(best, float(rates[last + 1]), _POINTS)
    return best


def _split_row(
    scenario: Scenario, catalog: Catalog, fleet: DisaggregatedFleet, demand: float, chosen: bool
) -> SizingRow:
    def at(rates: Rates) -> AtRates:
        return disaggregated_at_rates(scenario, catalog, fleet, rates)

    counts = fleet.prefill_instances, fleet.decode_instances, 0
    return _row("disaggregated", scenario, fleet, at, demand, counts, chosen)


def _colocated_row(
    scenario: Scenario, catalog: Catalog, fleet: ColocatedFleet, demand: float, chosen: bool
) -> SizingRow:
    def at(rates: Rates) -> AtRates:
        return colocated_at_rates(scenario, catalog, fleet, rates)

    return _row("colocated", scenario, fleet, at, demand, (0, 0, fleet.instances), chosen)


def _row(
    name: str,
    scenario: Scenario,
    fleet: ColocatedFleet | DisaggregatedFleet,
    at: Callable[[Rates], AtRates],
    demand: float,
    counts: tuple[int, int, int],
    chosen: bool,
) -> SizingRow:
    attained = float(at(np.array([demand])).attainment_fraction[0])
    price = fleet_price(fleet, scenario.money).usd_per_hour
    meets = attained >= scenario.slo.percentile / 100.0
    return SizingRow(
        name, *counts, fleet.gpus, price, attained, _capacity(scenario, at, demand), meets, chosen
    )


def _spare(pool: str, now: SizingRow, more: SizingRow) -> SpareRow:
    count = {"prefill": now.prefill, "decode": now.decode, "colocated": now.colocated}[pool]
    gain = more.capacity_per_s / now.capacity_per_s - 1.0 if now.capacity_per_s > 0.0 else 0.0
    added = None
    if more.usd_per_hour is not None and now.usd_per_hour is not None:
        added = more.usd_per_hour - now.usd_per_hour
    alone = count == 1
    risk = "a single point of failure" if alone else f"one of {count} lost leaves {(count - 1) / count:.0%}"
    price = "unpriced" if added is None else f"{added:.4g} USD/h"
    return SpareRow(
        pool,
        count,
        alone,
        more.gpus - now.gpus,
        added,
        max(gain, 0.0),
        f"{pool}: {risk}; a spare costs {price}",
    )
