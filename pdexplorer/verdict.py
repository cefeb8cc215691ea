"""The verdict: its type and the rule of its bands. It reads two outcomes and three ratios, and computes no
physics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.decision_block import VerdictRule

Decision = Literal["disaggregate", "benchmark_first", "stay_colocated", "hybrid", "infeasible"]
"""`hybrid` comes only from a replay of such routing (study.hybrid), never from the estimate."""

SHOWN = 3
"""Most reasons, and most flips, that a verdict is told with."""

_TINY = 0.02
"""A reason that moves less than this share of time or money is not worth a sentence."""

_ROUNDING = 1.0 - 1e-9

Basis = Literal["least_cost", "most_goodput", "equal_gpus", "fixed_fleets"]


@dataclass(frozen=True, slots=True)
class Reason:
    """A cause. key and parameters (SI) are stable, for other languages; text is one plain English line.

    weight: how much of time or money it moves, 0 to 1. favours: the fleet it speaks for.
    """

    key: str
    text: str
    weight: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    favours: Literal["disaggregated", "colocated"] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "text": self.text,
            "weight": self.weight,
            "favours": self.favours,
            "parameters": dict(self.parameters),
        }


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Where along one setting the decision flips. direction: splitting pays `above` or `below` value;
    None: nowhere. then: the decision on the side, then_direction, where the scenario does not stand.
    """

    key: str
    value: float | None
    unit: str
    direction: Literal["above", "below"] | None
    text: str = ""
    then: Decision | None = None
    then_direction: Literal["above", "below"] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "value": self.value,
            "unit": self.unit,
            "direction": self.direction,
            "then": self.then,
            "then_direction": self.then_direction,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Ratios:
    """Disaggregated over colocated, above 1 favours splitting; None where it cannot be formed.

    goodput_per_dollar, goodput_per_gpu: each fleet at its best unrounded scale. cost: colocated over
    disaggregated cost per request at the demand, with whole instances. goodput: what the whole instances
    serve that fit into the same number of GPUs; only where that number is what is held equal.
    """

    goodput_per_dollar: float | None = None
    goodput_per_gpu: float | None = None
    cost: float | None = None
    goodput: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What to do, which ratio said so, how sure, why, and what would flip it.

    confidence: share of draws over the efficiencies' spread that give the same decision; gain_interval: 90%
    of those draws' ratios; both None until drawn, or without a spread. undecided: that interval straddles the
    line between staying and splitting, so the decision is to benchmark first; leaning: what the estimate
    alone decided, which confidence is then of. break_even: nearest first, as a ratio to where the scenario
    stands.
    """

    decision: Decision
    decided_by: str | None
    ratios: Ratios
    vetoes: tuple[str, ...] = ()
    clearly: bool = False
    confidence: float | None = None
    confidence_text: str = ""
    gain_interval: tuple[float, float] | None = None
    undecided: bool = False
    leaning: Decision | None = None
    reasons: tuple[Reason, ...] = ()
    break_even: tuple[BreakEven, ...] = ()
    sentence: str = ""
    hybrid: str = ""

    @property
    def ratio(self) -> float | None:
        """The ratio that decided."""
        return ratio_of(self.ratios, self.decided_by)

    def to_json(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "sentence": self.sentence,
            "decided_by": self.decided_by,
            "goodput_per_dollar_ratio": self.ratios.goodput_per_dollar,
            "goodput_per_gpu_ratio": self.ratios.goodput_per_gpu,
            "cost_ratio": self.ratios.cost,
            "goodput_ratio": self.ratios.goodput,
            "confidence": self.confidence,
            "confidence_text": self.confidence_text,
            "gain_interval": None if self.gain_interval is None else list(self.gain_interval),
            "undecided": self.undecided,
            "leaning": self.leaning,
            "vetoes": list(self.vetoes),
            "reasons": [reason.to_json() for reason in self.reasons],
            "break_even": [flip.to_json() for flip in self.break_even],
            "hybrid": self.hybrid,
        }


def told_reasons(verdict: Verdict) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """The reasons that everyone tells, at most three: those on the verdict's side, then one against it.

    A verdict for neither side, benchmark first, has those for splitting first. Where one fleet cannot run
    the verdict's own sentence gives the reason.
    """
    if verdict.decided_by == "feasibility":
        return (), ()
    wanted = "colocated" if verdict.decision == "stay_colocated" else "disaggregated"
    heavy = [reason for reason in verdict.reasons if reason.weight >= _TINY]
    ours = [reason for reason in heavy if reason.favours in (wanted, None)]
    against = [reason for reason in heavy if reason.favours not in (wanted, None)][:1]
    return tuple(ours[: SHOWN - len(against)]), tuple(against)


def told_flips(verdict: Verdict) -> tuple[BreakEven, ...]:
    """The flips that everyone tells: the nearest three; Verdict.break_even stands in that order."""
    return tuple(flip for flip in verdict.break_even if flip.value is not None)[:SHOWN]


def decide(
    rule: VerdictRule,
    basis: Basis,
    colocated: Outcome,
    disaggregated: Outcome,
    ratios: Ratios,
    offline: bool = False,
) -> Verdict:
    """The band of the ratio that counts for the basis; a design that cannot meet the SLO loses to one that
    can.
    """
    decided_by = deciding_ratio(basis, ratios, offline)
    full = offline or basis in ("most_goodput", "equal_gpus")
    if not colocated.feasible or not disaggregated.feasible:
        if colocated.feasible:
            return Verdict("stay_colocated", "feasibility", ratios)
        if disaggregated.feasible:
            return Verdict("disaggregate", "feasibility", ratios, vetoes=vetoes(rule, disaggregated, full))
        return Verdict("infeasible", "feasibility", ratios)
    value = ratio_of(ratios, decided_by)
    against = vetoes(rule, disaggregated, full)
    band = band_of(rule, value)
    if band == "disaggregate" and against:
        band = "benchmark_first"
    return Verdict(
        band,
        decided_by,
        ratios,
        against,
        clearly=value is not None and value >= rule.clearly_ratio * _ROUNDING,
    )


def deciding_ratio(basis: Basis, ratios: Ratios, offline: bool = False) -> str:
    """cost_ratio for least cost; what whole instances serve for equal GPUs; else goodput per dollar, or per
    GPU where prices are missing.

    Money can be scaled and GPUs of one box cannot: there unrounded pools would decide about fleets nobody
    can build. A batch job has no demand to round to: its throughput per dollar decides.
    """
    if basis == "equal_gpus" and ratios.goodput is not None:
        return "goodput_ratio"
    if basis == "least_cost" and not offline and ratios.cost is not None:
        return "cost_ratio"
    return "goodput_per_gpu_ratio" if ratios.goodput_per_dollar is None else "goodput_per_dollar_ratio"


def band_of(
    rule: VerdictRule, ratio: float | None
) -> Literal["disaggregate", "benchmark_first", "stay_colocated"]:
    """Before any veto. Without a ratio nothing speaks for splitting. Whole fleets give exact ratios such
    as 13 / 10, so rounding in the last digits must not move a band.
    """
    if ratio is None or ratio < rule.benchmark_ratio * _ROUNDING:
        return "stay_colocated"
    return "disaggregate" if ratio >= rule.pays_ratio * _ROUNDING else "benchmark_first"


def vetoes(rule: VerdictRule, disaggregated: Outcome, full: bool = False) -> tuple[str, ...]:
    """Keys of what speaks against splitting at the demand: transfer_share, link_busy, prefill_busy.

    full: the pools run full on purpose, as in a batch job or where a budget is filled up. A batch job has no
    TTFT, so no share of it.
    """
    found = []
    share = transfer_share(disaggregated)
    if share is not None and share > rule.transfer_share_of_ttft:
        found.append("transfer_share")
    use = disaggregated.utilisation or {}
    if use.get("link", 0.0) > rule.link_utilisation:
        found.append("link_busy")
    if not full and use.get("prefill_capacity", use.get("prefill", 0.0)) > rule.prefill_utilisation:
        found.append("prefill_busy")
    return tuple(found)


def transfer_share(disaggregated: Outcome) -> float | None:
    """KV transfer that prefill does not hide, at P95, as a share of TTFT at P95."""
    exposed, ttft = disaggregated.kv_exposed_s, disaggregated.ttft_s
    return None if exposed is None or ttft is None or ttft.p95 <= 0.0 else exposed.p95 / ttft.p95


def other_ratio(decided_by: str | None) -> str:
    """The ratio that a verdict is held against: whole instances against unrounded scale."""
    others = {"cost_ratio": "goodput_per_dollar_ratio", "goodput_ratio": "goodput_per_gpu_ratio"}
    return others.get(decided_by or "", "cost_ratio")


def ratio_of(ratios: Ratios, name: str | None) -> float | None:
    """A ratio by its name in JSON; None where it could not be formed or has no name."""
    return {
        "cost_ratio": ratios.cost,
        "goodput_per_dollar_ratio": ratios.goodput_per_dollar,
        "goodput_per_gpu_ratio": ratios.goodput_per_gpu,
        "goodput_ratio": ratios.goodput,
    }.get(name or "")
