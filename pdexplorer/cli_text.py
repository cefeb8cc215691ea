"""What `evaluate` and `simulate` print for people: the verdict in words, then two columns with units."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pdexplorer.cli_lists import print_table
from pdexplorer.study.compare import Evaluation

Answer = Mapping[str, Any]
_WIDTH = 100
_FLEETS = ("colocated", "disaggregated")
_DECISIONS = {
    "disaggregate": "Disaggregate",
    "benchmark_first": "Benchmark first",
    "stay_colocated": "Stay colocated",
    "hybrid": "Hybrid",
    "infeasible": "Neither fleet can",
}
_PARTS = ("prefill", "decode", "kv_transfer", "scheduling_idle", "total")


def limits_of(evaluation: Evaluation) -> dict[str, str]:
    """Why a fleet cannot serve the scenario, in words, for each that cannot."""
    sides = {"colocated": evaluation.colocated, "disaggregated": evaluation.disaggregated}
    return {name: side.infeasible.text for name, side in sides.items() if side.infeasible is not None}


def print_evaluation(title: str, answer: Answer, limits: Mapping[str, str], sources: Sequence[str]) -> None:
    """Verdict, because, flips if, both fleets, cost in four parts, sources."""
    print(f"{title}\n")
    _wrapped("", sentence(answer["verdict"], limits))
    reasons = [str(reason["text"]).rstrip(".") for reason in answer["verdict"]["reasons"][:3]]
    if reasons:
        _wrapped("because   ", "; ".join(reasons) + ".")
    vetoes = [_text_of(veto) for veto in answer["verdict"]["vetoes"]]
    if vetoes:
        _wrapped("held back by  ", "; ".join(vetoes) + ".")
    _wrapped("flips if  ", flips(answer["verdict"]["break_even"]))
    print()
    _print_fleets(answer, "estimated")
    for name, why in limits.items():
        _wrapped(f"{name} cannot: ", why)
    if sources:
        print()
        _wrapped("rests on  ", "; ".join(sources))


def print_simulation(title: str, answers: Answer, limits: Mapping[str, str]) -> None:
    """The replayed fleets, and how many requests came through."""
    print(f"{title}\n")
    _print_fleets(answers, "simulated")
    for name, why in limits.items():
        if name in answers:
            _wrapped(f"{name}: ", why)


def sentence(verdict: Answer, limits: Mapping[str, str]) -> str:
    """The decision and its number: "Stay colocated: splitting costs 12% more per request (0.89×)"."""
    word = _DECISIONS.get(str(verdict["decision"]), str(verdict["decision"]))
    if len(limits) == len(_FLEETS):
        return f"{word}: {limits['colocated']}"
    if limits:
        (cannot,) = limits
        can = "the colocated fleet" if cannot == "disaggregated" else "separate pools"
        return f"{word}: only {can} can serve this; {cannot}: {limits[cannot]}"
    by = verdict["decided_by"]
    ratio = verdict.get(by) if by else None
    if ratio is None:
        return word
    if by == "cost_ratio":
        change = 1 - 1 / ratio if ratio > 1 else 1 / ratio - 1
        what = f"splitting costs {change:.0%} {'less' if ratio > 1 else 'more'} per request"
    else:
        per = "GPU" if by == "goodput_per_gpu_ratio" else "dollar"
        change = ratio - 1 if ratio > 1 else 1 - ratio
        what = f"splitting serves {change:.0%} {'more' if ratio > 1 else 'less'} goodput per {per}"
    if abs(ratio - 1) < 0.005:
        what = "both come out equal"
    return f"{word}: {what} ({ratio:.2f}×)."


def flips(break_evens: Sequence[Answer]) -> str:
    """The nearest flip along each input that has one."""
    found = [
        f"{flip['key']} {'below' if 'below' in str(flip['direction']) else 'above'} "
        f"{_number(flip['value'])}{' ' + flip['unit'] if flip['unit'] else ''}"
        for flip in break_evens
        if flip["value"] is not None
    ]
    return " or ".join(found[:4]) + "." if found else "nothing within the inputs' range flips it."


def _print_fleets(answers: Answer, kind: str) -> None:
    fleets = [name for name in _FLEETS if name in answers]
    sides = [answers[name] for name in fleets]

    def row(label: str, unit: str, values: Sequence[str]) -> tuple[str, ...]:
        return (label, unit, *values)

    rows = [
        row("instances", "", [_instances(side["instances"]) for side in sides]),
        row("GPUs", "", [_number(side["gpus"]) for side in sides]),
        row("goodput", "/s", [_number(side["goodput_per_s"]) for side in sides]),
        row("SLO attainment", "%", [_number(side["attainment_fraction"], 100) for side in sides]),
        *(
            row(f"{name} P50/P95/P99", unit, [_percentiles(side[key], scale) for side in sides])
            for name, key, unit, scale in (
                ("TTFT", "ttft_s", "ms", 1e3),
                ("TPOT", "tpot_s", "ms", 1e3),
                ("ITL", "itl_s", "ms", 1e3),
                ("end to end", "e2e_s", "s", 1.0),
                ("KV transfer", "kv_transfer_s", "ms", 1e3),
            )
        ),
        row("bottleneck", "", [str(side["bottleneck"] or "-") for side in sides]),
        row("busy", "%", [_busy(side["utilisation"]) for side in sides]),
        row("fleet cost", "$/h", [_number(side["cost_usd_per_hour"]) for side in sides]),
        row("cost", "$/M tokens", [_number(side["cost_usd_per_million_tokens"]) for side in sides]),
        *(
            row(f"  {part.replace('_', ' ')}", "$/1,000 requests", [_part(side, part) for side in sides])
            for part in _PARTS
        ),
    ]
    if all("requests" in side for side in sides):
        rows.insert(
            0, row("completed", "requests", [f"{s['completed']:,} of {s['requests']:,}" for s in sides])
        )
        rows.insert(1, row("simulated", "s", [_number(side["simulated_s"]) for side in sides]))
    print_table((kind, "", *fleets), rows, text_columns=(0, 1))


def _part(side: Answer, part: str) -> str:
    parts = side["cost_per_request_usd"] or {}
    return _number(parts.get(part), 1e3)


def _percentiles(values: Answer | None, scale: float) -> str:
    if not values or all(value is None for value in values.values()):
        return "-"
    return " / ".join(_number(values[p], scale) for p in ("p50", "p95", "p99"))


def _instances(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value['prefill']}P + {value['decode']}D"
    return "-" if value is None else str(value)


def _busy(utilisation: Answer | None) -> str:
    if not utilisation:
        return "-"
    return ", ".join(f"{name} {value:.0%}"[:-1] for name, value in utilisation.items() if value is not None)


def _number(value: float | None, scale: float = 1.0) -> str:
    if value is None:
        return "-"
    number = value * scale
    if number and abs(number) < 1e-3:
        return f"{number:.2g}"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _text_of(item: Any) -> str:
    return str(item.get("text", item.get("key"))) if isinstance(item, Mapping) else str(item)


def _wrapped(lead: str, text: str) -> None:
    print(textwrap.fill(text, _WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead)))
