"""How sure the verdict is: the same comparison over draws of the efficiencies within their spread."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.steady.load import load_of
from pdexplorer.study import headline
from pdexplorer.study.compare import Evaluation, priced, sentence_of
from pdexplorer.study.drawn_ratios import drawn_costs
from pdexplorer.study.progress import Report, unheard
from pdexplorer.study.search.basis import Basis, basis_of
from pdexplorer.study.search.score import score_colocated, score_disaggregated
from pdexplorer.study.search.space import Space, design_space
from pdexplorer.study.search.space_of import close_to_best, space_of
from pdexplorer.study.search.spread import draw_factors, spreads
from pdexplorer.verdict import Verdict, band_of

_WITHIN = 1.15
"""Designs dearer than the best by more than this do not become the best within the spread."""
_TAIL = 0.05
_CLOSE = 0.7, 1.5
"""Ratios over the line between staying and splitting within which draws have been seen on both sides."""


@dataclass(frozen=True)
class Confidence:
    """agreeing: share of draws with the verdict's decision. gain_low, gain_high: 5th and 95th percentile of
    the ratio that decides, None where most draws have none. undecided: they straddle the line below which the
    decision is to stay, and fewer draws agree than the scenario's sure_fraction.
    """

    draws: int
    agreeing: float
    gain_low: float | None
    gain_high: float | None
    undecided: bool
    decisions: tuple[tuple[str, int], ...]
    text: str


def confidence_of(
    evaluation: Evaluation, catalog: Catalog | None = None, report: Report = unheard
) -> Confidence | None:
    """Drawn as the scenario's confidence.* say; None where nothing in play has a spread, or where the search
    over draws does not come to the verdict even without a change: its shares would be of another question.
    The same seed gives the same draws, for any scenario. report: told the share done.
    """
    scenario = evaluation.scenario
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    space = design_space(scenario, catalog)
    return _confidence(evaluation, space, report)


def with_confidence(evaluation: Evaluation, catalog: Catalog | None = None) -> Evaluation:
    """The evaluation with the verdict's confidence filled; as it was where nothing has a spread. Where the
    draws do not decide, the decision is to benchmark first.
    """
    found = confidence_of(evaluation, catalog)
    if found is None:
        return evaluation
    interval = None
    if found.gain_low is not None and found.gain_high is not None:
        interval = (found.gain_low, found.gain_high)
    verdict = replace(
        evaluation.verdict,
        confidence=found.agreeing,
        confidence_text=found.text,
        gain_interval=interval,
        undecided=found.undecided,
    )
    if found.undecided:
        verdict = _benchmark_first(replace(evaluation, verdict=verdict), catalog)
    return replace(evaluation, verdict=verdict)


def _benchmark_first(evaluation: Evaluation, catalog: Catalog | None) -> Verdict:
    """The verdict of an estimate that cannot decide: one decision, the estimate's own told after it."""
    verdict = evaluation.verdict
    verdict = replace(verdict, decision="benchmark_first", leaning=verdict.decision, clearly=False)
    one, other = evaluation.colocated, evaluation.disaggregated
    sentence = sentence_of(evaluation.scenario, verdict, one, other, catalog or load_catalog())
    elsewhere = tuple(flip for flip in verdict.break_even if flip.then != verdict.decision)
    return replace(verdict, sentence=sentence, break_even=elsewhere)


def in_doubt(evaluation: Evaluation) -> bool:
    """Whether draws, not yet made, could say that the estimate cannot decide: cheaper to ask than to draw."""
    verdict, line = evaluation.verdict, evaluation.scenario.verdict.benchmark_ratio
    close = verdict.ratio is not None and _CLOSE[0] * line < verdict.ratio < _CLOSE[1] * line
    return close and verdict.confidence is None and verdict.decision in ("disaggregate", "stay_colocated")


def _confidence(evaluation: Evaluation, space: Space, report: Report) -> Confidence | None:
    asked = space.scenario.confidence
    draws = asked.draws
    spread = {key: asked.spread_ratio * each for key, each in spreads(space).items()}
    if not any(spread.values()) or draws < 1:
        return None
    factors = [{}, *(draw_factors(spread, asked.seed, draw) for draw in range(draws))]
    demand = load_of(space.scenario)
    basis = basis_of(
        space.scenario, priced(space), demand.rate_per_s if demand.concurrency is None else demand.concurrency
    )
    verdict, rule = evaluation.verdict, space.scenario.verdict
    whole = verdict.decided_by in ("cost_ratio", "goodput_ratio", "feasibility") and not (
        basis.closed or basis.offline
    )
    # A small budget leaves room for few whole instances: what is best unrounded says little there.
    tried = _affordable(space, basis) if whole and basis.grows else _near(space)
    costs = drawn_costs(tried, basis, factors, whole, report)
    with np.errstate(invalid="ignore"):
        ratio = costs.colocated / costs.disaggregated
    ratio = ratio * _anchor(verdict.ratio, float(ratio[0]))
    cannot = np.isinf(costs.colocated) & np.isinf(costs.disaggregated)
    undrawn, *decisions = (
        "infeasible" if neither else _decision(rule, verdict, float(each))
        for neither, each in zip(cannot, ratio, strict=True)
    )
    if undrawn != verdict.decision:
        return None
    ratio, counts = ratio[1:], Counter(decisions)
    agreeing = counts[verdict.decision] / draws
    able = ratio[np.isfinite(ratio) & (ratio > 0.0)]
    low = high = None
    if 2 * len(able) >= draws:
        low, high = (float(q) for q in np.quantile(able, (_TAIL, 1.0 - _TAIL)))
    straddles = low is not None and high is not None and low < rule.benchmark_ratio <= high
    undecided = straddles and agreeing < asked.sure_fraction
    text = headline.confidence(agreeing, low, high, undecided)
    return Confidence(draws, agreeing, low, high, undecided, tuple(counts.most_common()), text)


def _anchor(ratio: float | None, here: float) -> float:
    """The search over draws leaves out the last refinement of whole fleets: meet the verdict's own ratio."""
    usable = ratio is not None and np.isfinite(here) and here > 0.0
    return ratio / here if usable and ratio is not None else 1.0


def _decision(rule: VerdictRule, verdict: Verdict, ratio: float) -> str:
    """As verdict.decide; the vetoes are those of the estimate."""
    band = band_of(rule, ratio)
    return "benchmark_first" if band == "disaggregate" and verdict.vetoes and np.isfinite(ratio) else band


def _affordable(space: Space, basis: Basis) -> Space:
    """Without instances that a budget of GPUs does not hold, unless that leaves a role empty."""
    if not basis.grows or basis.per_dollar:
        return space
    roles = [
        [i for i in role if i.gpus <= basis.budget] for role in (space.colocated, space.prefill, space.decode)
    ]
    return space_of(space, *roles) if all(roles) else space


def _near(space: Space) -> Space:
    """Only designs that could be the best in some draw, which is most of the time."""
    load = load_of(space.scenario)
    colocated, split = score_colocated(space, load), score_disaggregated(space, load)
    if colocated is None or split is None or isinstance(split, Infeasible):
        return space
    return close_to_best(space, colocated, split, priced(space), _WITHIN)
