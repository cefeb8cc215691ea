"""The sentence a verdict is told with: the decision, the number that decided it, and what qualifies it."""

from collections.abc import Mapping
from typing import Any

from pdexplorer.catalog.engine import EngineProfile
from pdexplorer.infeasible import Infeasible
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.words import number, percent

BASIS = {
    "least_cost": "at least cost for this demand",
    "most_goodput": "at most goodput for the budget",
    "equal_gpus": "at equal GPU counts",
    "fixed_fleets": "for the two fleets as given",
}
OFFLINE = "for a batch job without latency limits"
RATIO = {
    "cost_ratio": "cost per request",
    "goodput_per_dollar_ratio": "goodput per USD",
    "goodput_per_gpu_ratio": "goodput per GPU",
    "goodput_ratio": "goodput",
}
VETO = {
    "transfer_share": "the KV transfer takes too large a share of TTFT P95",
    "link_busy": "the link is too busy",
    "prefill_busy": "the prefill pool is too busy",
}
HYBRID = "Hybrid routing (short uncached prompts prefilled on the decode side) is judged by replay, not here."


def gain(ratio: float) -> str:
    """How much better splitting is, as a person says it."""
    return f"{number(ratio)}×" if ratio >= 0.995 else f"only {number(ratio)}×"


LEANS = {"disaggregate": "It leans to splitting", "stay_colocated": "It leans to staying colocated"}
"""What the estimate alone says, where it cannot decide."""


def headline(
    decision: str,
    clearly: bool,
    basis: str,
    decided_by: str | None,
    ratio: float | None,
    offline: bool,
    leaning: str | None = None,
) -> str:
    """The decision first; leaning: the decision of an estimate that cannot decide, told after."""
    where = OFFLINE if offline else BASIS[basis]
    if leaning is not None:
        undecided = "Benchmark first: the estimate cannot decide this."
        told = headline(leaning, False, basis, decided_by, ratio, offline).partition(": ")[2]
        leans = f"{LEANS[leaning]}: {told}" if leaning in LEANS else _capital(told)
        return f"{undecided} {leans}"
    what = RATIO.get(decided_by or "", "")
    if ratio is None:
        return {
            "disaggregate": f"Disaggregate {where}: only the split fleet meets the limits.",
            "stay_colocated": f"Stay colocated {where}: the split fleet cannot run or meet the limits.",
            "infeasible": "Neither design can serve this within the limits.",
        }.get(decision, f"Stay colocated {where}: there is no ratio to compare.")
    won = f"splitting gives {gain(ratio)} the colocated {what}"
    if decided_by == "cost_ratio":
        won = _cheaper(ratio)
    start = {
        "disaggregate": "Disaggregate, clearly" if clearly else "Disaggregate",
        "benchmark_first": "Benchmark first",
        "stay_colocated": "Stay colocated",
    }[decision]
    return f"{start}: {where}, {won}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cheaper(ratio: float) -> str:
    if abs(ratio - 1.0) < 0.005:
        return "splitting costs the same per request"
    if ratio > 1.0:
        return f"splitting costs {percent(1.0 - 1.0 / ratio)} less per request ({number(ratio)}×)"
    return f"splitting costs {percent(1.0 / ratio - 1.0)} more per request ({number(ratio)}×)"


def vetoed(keys: tuple[str, ...]) -> str:
    return "Veto: " + " and ".join(VETO[key] for key in keys) + "."


UNFAIR = {
    "unchunked": " without chunked prefill",
    "unfair": "The comparison is not fair: colocated runs {own}{without}.",
    "unfair_engines": "The comparison is not fair: colocated runs {own}{without}, the split runs {split}.",
}
"""How a baseline that is not the best on offer is told, by key."""


IN_NUMBERS = (
    "The split fleet needs {split} GPUs ({split_cost} USD/h), the colocated one "
    "{colocated} ({colocated_cost} USD/h)."
)
"""What both fleets come to, where no cause stands out."""


def in_numbers(answer: Mapping[str, Any], told: str = IN_NUMBERS) -> str:
    """What both fleets of an evaluation's JSON come to; empty where a side cannot or has no price. told: the
    template, in any language.
    """
    split, colocated = answer["disaggregated"], answer["colocated"]
    costs = split.get("cost_usd_per_hour"), colocated.get("cost_usd_per_hour")
    if not (split["feasible"] and colocated["feasible"]) or None in costs:
        return ""
    split_cost, cost = (f"{each:,.{2 if each < 100 else 0}f}" for each in map(float, costs))
    return told.format(
        split=split["gpus"], split_cost=split_cost, colocated=colocated["gpus"], colocated_cost=cost
    )


def unfair(scenario: Scenario, engines: Mapping[str, EngineProfile], told: Mapping[str, str] = UNFAIR) -> str:
    """A baseline that is not the best on offer: another engine, or no chunked prefill. Empty where it is.
    told: the templates, in any language.
    """
    own, split = (engines[name].short_name for name in (scenario.colocated_engine, scenario.engine.profile))
    without = "" if scenario.engine.chunking == "chunked" else told["unchunked"]
    if own != split:
        return told["unfair_engines"].format(own=own, without=without, split=split)
    return told["unfair"].format(own=own, without=without) if without else ""


def disagreement(other: str, ratio: float, band: str) -> str:
    says = {"disaggregate": "pays", "benchmark_first": "worth a benchmark", "stay_colocated": "not worth it"}[
        band
    ]
    scale = " at unrounded scale" if other == "goodput_per_gpu_ratio" else ""
    return f"By {RATIO[other]}{scale} it is {number(ratio)}×: {says}."


def with_limits(said: str, colocated: Infeasible | None, split: Infeasible | None) -> list[str]:
    """The sentence and what stops each fleet that cannot; once where it stops both alike. Without a figure
    nothing is known of the limits.
    """
    limits = {"Colocated": colocated, "Disaggregated": split}
    if colocated is None or split is None or colocated.text != split.text:
        return [said, *(f"{name}: {each.text}." for name, each in limits.items() if each is not None)]
    lead = "Cannot judge yet" if split.limit == "missing_figure" else said.rstrip(".")
    return [f"{lead}: {split.text}."]


def confidence(agreeing: float, low: float | None, high: float | None, undecided: bool) -> str:
    """How sure, over draws of the efficiencies' spread."""
    within = "" if low is None or high is None else f"; 90% of draws lie within {number(low)}–{number(high)}×"
    agree = "lean the same way" if undecided else "agree"
    return f"{percent(agreeing)} of draws over the measured spread {agree}{within}."
