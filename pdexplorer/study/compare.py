"""The whole question: search both designs, size them, compare, and say why and what would flip it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pdexplorer import MODEL_VERSION
from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.money import price_of
from pdexplorer.metrics.outcome import Outcome
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.load import Load, load_of
from pdexplorer.study.break_even import break_evens
from pdexplorer.study.headline import HYBRID, disagreement, headline, unfair, vetoed, with_limits
from pdexplorer.study.other_side import with_other_side
from pdexplorer.study.price_flips import price_break_evens
from pdexplorer.study.reasons import for_decision, reasons_of
from pdexplorer.study.search.basis import Basis, basis_of
from pdexplorer.study.search.candidates import Candidate
from pdexplorer.study.search.score import (
    ColocatedScore,
    DisaggregatedScore,
    colocated_cost,
    disaggregated_cost,
    score_colocated,
    score_disaggregated,
)
from pdexplorer.study.search.size_colocated import size_colocated
from pdexplorer.study.search.size_disaggregated import size_disaggregated
from pdexplorer.study.search.space import Space, design_space
from pdexplorer.study.sources import sources_of
from pdexplorer.verdict import BreakEven, Ratios, Verdict, band_of, decide, other_ratio, ratio_of


@dataclass(frozen=True)
class Evaluation:
    """The answer to one scenario. fleets are None where a side cannot; marginal_gain: of one more P or D
    instance.
    """

    scenario: Scenario
    colocated: Outcome
    disaggregated: Outcome
    verdict: Verdict
    candidates: tuple[Candidate, ...]
    colocated_fleet: ColocatedFleet | None
    disaggregated_fleet: DisaggregatedFleet | None
    sources: tuple[str, ...]
    marginal_gain: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Plain types, as `evaluate --json` prints them."""
        return {
            "scenario": self.scenario.model_dump(mode="json"),
            "colocated": self.colocated.to_json(),
            "disaggregated": self.disaggregated.to_json(),
            "hybrid": None,
            "verdict": self.verdict.to_json(),
            "candidates": [candidate.to_json() for candidate in self.candidates],
            "marginal_gain": dict(self.marginal_gain),
            "sources": list(self.sources),
            "model_version": MODEL_VERSION,
        }


def evaluate(scenario: Scenario, catalog: Catalog | None = None, with_break_even: bool = True) -> Evaluation:
    """Search, size and compare. ValueError for an unknown id; everything else that cannot is a value."""
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    return evaluate_space(design_space(scenario, catalog), with_break_even)


def evaluate_space(space: Space, with_break_even: bool = True) -> Evaluation:
    """The same over designs that are resolved already."""
    steps = evaluation_steps(space)
    decided = next(steps)
    return next(steps) if with_break_even else decided


def evaluation_steps(space: Space) -> Iterator[Evaluation]:
    """The answer as soon as the decision stands, then the same with what would flip it, which takes longer
    than the decision.
    """
    scenario, load = space.scenario, load_of(space.scenario)
    colocated = score_colocated(space, load)
    split = score_disaggregated(space, load)
    basis = basis_of(
        scenario, priced(space), load.rate_per_s if load.concurrency is None else load.concurrency
    )
    sized = size_colocated(space, colocated, load, basis)
    pools = size_disaggregated(space, split, load, basis)
    ratios = _ratios(space, colocated, split, sized.outcome, pools.outcome)
    verdict = decide(scenario.verdict, basis.kind, sized.outcome, pools.outcome, ratios, load.offline)  # type: ignore[arg-type]
    verdict = replace(
        verdict,
        reasons=for_decision(
            reasons_of(scenario, sized.outcome, pools.outcome, _prices(space)), verdict.decision
        ),
        hybrid=HYBRID,
    )
    verdict = replace(
        verdict, sentence=sentence_of(scenario, verdict, sized.outcome, pools.outcome, space.catalog)
    )
    decided = Evaluation(
        scenario, sized.outcome, pools.outcome, verdict, (*sized.candidates, *pools.candidates), sized.fleet,
        pools.fleet, sources_of(space), dict(pools.marginal_gain),
    )  # fmt: skip
    yield decided
    flips = _flips(space, colocated, split, verdict, load, basis)
    yield replace(decided, verdict=replace(verdict, break_even=with_other_side(flips, verdict, space)))


def priced(space: Space) -> bool:
    """Whether every accelerator in play has a price; else everything is compared per GPU."""
    instances = (*space.colocated, *space.prefill, *space.decode)
    return all(price_of(i.accelerator, space.scenario.money).usd_per_hour is not None for i in instances)


def _prices(space: Space) -> dict[str, float | None]:
    instances = (*space.colocated, *space.prefill, *space.decode)
    return {i.accelerator.id: price_of(i.accelerator, space.scenario.money).usd_per_hour for i in instances}


def _ratios(
    space: Space,
    colocated: ColocatedScore | None,
    split: DisaggregatedScore | Infeasible | None,
    one: Outcome,
    other: Outcome,
) -> Ratios:
    """None where a side cannot."""
    if (
        not one.feasible
        or not other.feasible
        or colocated is None
        or not isinstance(split, DisaggregatedScore)
    ):
        return Ratios()

    def ratio(per_dollar: bool) -> float | None:
        value = float(
            (
                colocated_cost(space, colocated, per_dollar) / disaggregated_cost(space, split, per_dollar)
            ).item()
        )
        return value if np.isfinite(value) and value > 0.0 else None

    cost = None
    if one.cost_usd_per_hour and other.cost_usd_per_hour and one.throughput_per_s and other.throughput_per_s:
        cost = (one.cost_usd_per_hour / one.throughput_per_s) / (
            other.cost_usd_per_hour / other.throughput_per_s
        )
    compare, closed = space.scenario.compare, space.scenario.workload.arrivals == "closed_loop"
    if compare.basis == "fixed_fleets" and closed:
        return _fixed_ratios(one, other, cost)
    # a filled fleet holds the limits at all it carries; a closed loop serves what it serves
    served = [side.goodput_per_s if closed else side.throughput_per_s for side in (other, one)]
    whole = served[0] / served[1] if compare.basis == "equal_gpus" and served[0] and served[1] else None
    return Ratios(ratio(True) if priced(space) else None, ratio(False), cost, whole)


def _fixed_ratios(one: Outcome, other: Outcome, cost: float | None) -> Ratios:
    """Fleets as given under a fixed number in flight: what each serves of it."""
    if not one.goodput_per_s or not other.goodput_per_s or not one.gpus or not other.gpus:
        return Ratios(cost=cost)
    goodput = other.goodput_per_s / one.goodput_per_s
    dollars = None
    if one.cost_usd_per_hour and other.cost_usd_per_hour:
        dollars = goodput * one.cost_usd_per_hour / other.cost_usd_per_hour
    return Ratios(dollars, goodput * one.gpus / other.gpus, cost)


def _flips(
    space: Space,
    colocated: ColocatedScore | None,
    split: DisaggregatedScore | Infeasible | None,
    verdict: Verdict,
    load: Load,
    basis: Basis,
) -> tuple[BreakEven, ...]:
    if not space.colocated or not isinstance(split, DisaggregatedScore):
        return ()
    rule = space.scenario.verdict
    thresholds = (
        (rule.benchmark_ratio, rule.pays_ratio)
        if verdict.decision == "benchmark_first"
        else (rule.benchmark_ratio,)
    )
    per_dollar = basis.per_dollar and priced(space)
    found = break_evens(space, per_dollar, thresholds, verdict.ratio)
    return (
        *found,
        *price_break_evens(space, colocated, split, thresholds, verdict.ratio if per_dollar else None),
    )


def sentence_of(
    scenario: Scenario, verdict: Verdict, colocated: Outcome, split: Outcome, catalog: Catalog
) -> str:
    """One to three plain sentences: the decision, and what qualifies it."""
    offline = scenario.workload.mode == "offline"
    parts = [
        headline(
            verdict.decision,
            verdict.clearly,
            scenario.compare.basis,
            verdict.decided_by,
            verdict.ratio,
            offline,
            verdict.leaning,
        )
    ]
    if verdict.decided_by == "feasibility":
        parts = with_limits(parts[0], colocated.infeasible, split.infeasible)
    if verdict.vetoes and verdict.decision != "stay_colocated":
        parts.append(vetoed(verdict.vetoes))
    parts += _disagreements(scenario, verdict)
    note = unfair(scenario, catalog.engines)
    return " ".join([*parts, note] if note else parts)


def _disagreements(scenario: Scenario, verdict: Verdict) -> list[str]:
    """Where the other ratio falls in another band, the sentence says so."""
    if verdict.ratio is None or verdict.decided_by is None:
        return []
    own = band_of(scenario.verdict, verdict.ratio)
    other = other_ratio(verdict.decided_by)
    value = ratio_of(verdict.ratios, other)
    if value is None or band_of(scenario.verdict, value) == own:
        return []
    return [disagreement(other, value, band_of(scenario.verdict, value))]
