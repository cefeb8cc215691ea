"""The listed published results beside what the model predicts for them: signs, ratios, balanced accuracy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.published import PublishedCase, Sign, load_published
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.progress import Report, counted, unheard

FIRST_BALANCED_ACCURACY_FRACTION = 0.668
"""What the list scored when it was first run, as committed before any run."""


@dataclass(frozen=True)
class PublishedResult:
    """predicted_ratio: split over colocated, the one the case's basis decides by; None where one side cannot.
    predicted_sign follows from it as published_sign does from the published one, or from which side can; None
    where neither can, which counts as a miss. cause: what a miss comes down to, as far as it is known.
    changed: what was corrected in the case since it was listed.
    """

    id: str
    source: str
    claim: str
    metric: str
    kind: str
    published_sign: Sign
    published_ratio: float | None
    predicted_sign: Sign | None
    predicted_ratio: float | None
    predicted_decision: str
    correct: bool
    limit: str
    cause: str
    changed: str = ""


@dataclass(frozen=True)
class Scorecard:
    """balanced_accuracy_fraction: mean over the two signs of the share that is right."""

    results: tuple[PublishedResult, ...]
    pays_right: int
    pays_listed: int
    does_not_pay_right: int
    does_not_pay_listed: int
    balanced_accuracy_fraction: float


def published_results(
    cases: Sequence[PublishedCase] | None = None,
    catalog: Catalog | None = None,
    report: Report = unheard,
) -> tuple[PublishedResult, ...]:
    """One a case, in the list's order. report: told the share done."""
    return tuple(
        published_result(case, evaluate(case.scenario, catalog, with_break_even=False))
        for case in counted(load_published() if cases is None else cases, report)
    )


def published_result(case: PublishedCase, evaluation: Evaluation) -> PublishedResult:
    """A case beside its evaluation."""
    predicted = predicted_sign(evaluation)
    correct = predicted == case.published_sign
    sides = (evaluation.colocated, evaluation.disaggregated)
    limits = [side.infeasible.text for side in sides if side.infeasible is not None]
    return PublishedResult(
        id=case.id,
        source=case.source,
        claim=case.claim,
        metric=case.metric,
        kind=case.kind,
        published_sign=case.published_sign,
        published_ratio=case.published_ratio,
        predicted_sign=predicted,
        predicted_ratio=evaluation.verdict.ratio,
        predicted_decision=evaluation.verdict.decision,
        correct=correct,
        limit="; ".join(limits),
        cause="" if correct else miss_cause(case.id),
        changed=case.changed,
    )


def predicted_sign(evaluation: Evaluation) -> Sign | None:
    """A gain from the benchmark line on pays, by the same line the published ratios were sorted by."""
    if not evaluation.colocated.feasible and not evaluation.disaggregated.feasible:
        return None
    if not evaluation.disaggregated.feasible:
        return "does_not_pay"
    ratio = evaluation.verdict.ratio
    if not evaluation.colocated.feasible:
        return "pays"
    line = evaluation.scenario.verdict.benchmark_ratio
    return "pays" if ratio is not None and ratio >= line * (1.0 - 1e-9) else "does_not_pay"


def scorecard(results: Sequence[PublishedResult]) -> Scorecard:
    """ValueError where one of the signs is not listed at all."""
    counts = {}
    for sign in ("pays", "does_not_pay"):
        of_sign = [result for result in results if result.published_sign == sign]
        if not of_sign:
            raise ValueError(f"published results: none is listed as {sign}")
        counts[sign] = sum(result.correct for result in of_sign), len(of_sign)
    shares = [right / listed for right, listed in counts.values()]
    return Scorecard(tuple(results), *counts["pays"], *counts["does_not_pay"], sum(shares) / len(shares))


def miss_cause(case_id: str) -> str:
    """What is known of a miss; empty where nobody looked. By case, or by row for all its cases."""
    return CAUSES.get(cause_key(case_id), "")


def cause_key(case_id: str) -> str:
    """Under which key of CAUSES a case's miss is told; empty where under none."""
    known = [key for key in CAUSES if case_id == key or case_id.startswith(f"{key}_")]
    return max(known, key=len, default="")


CAUSES: Mapping[str, str] = {
    "R005_mii": "The catalogue has no profile of DeepSpeed-MII; today's vLLM with chunked prefill stands "
    "in, a better baseline than the one measured. The decode pool is bound by KV memory.",
    "R081": "The source ran 100 requests, twelve seconds of arrivals: no steady state, in which 64 "
    "sequences a decode instance carry no 2 requests/s. Its limit is on the gaps between tokens, which a "
    "scenario cannot state; on TPOT, where the list puts it, interference averages out.",
    "U31": "At this rate both fleets serve everything, so neither can give more tokens per second. The "
    "same author's next run (LMCache pull request 528) has a TPOT of 12 against 20 ms at equal arrivals: a "
    "gain in speed for each user, where throughput is compared here.",
    "U66": "Prediction of another planner, not a measurement. It takes 18% off the split's prefill (0.9 / "
    "1.1) and 15% off its decode (0.92 / 1.08), nothing off the colocated fleet: without that its ratios "
    "of 0.89 to 1.09 would read about 1.1 to 1.3.",
    "U66_l40s": "Prediction of another planner, with 15 to 18% off its split as above; its colocated "
    "fleet gives 95 tokens/s per GPU, ours a third less. No collective of this card over PCIe was measured.",
}
