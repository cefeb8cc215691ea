"""The answer first: one sentence with an icon, why, what would flip it, and four headline numbers."""

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.texts.formats import (
    money_per_hour,
    ms_text,
    number,
    percent,
    percent_change,
    ratio_text,
    seconds_text,
    with_unit,
)
from pdexplorer.ui.reason_texts import because_and_but
from pdexplorer.ui.texts import plain, text
from pdexplorer.verdict import band_of, other_ratio

DECISIONS: Mapping[str, tuple[str, str]] = {
    "disaggregate": (":material/call_split:", "violet"),
    "benchmark_first": (":material/science:", "blue"),
    "stay_colocated": (":material/join_full:", "orange"),
    "hybrid": (":material/alt_route:", "blue"),
    "infeasible": (":material/block:", "gray"),
}
"""Icon and colour of each decision; the words always stand beside them."""

_FLIPS = 3

Answer = Mapping[str, Any]
"""An evaluation as `evaluate --json` writes it."""


def verdict_view(evaluation: Any, answer: Answer, whys: Mapping[str, str], here: Mapping[str, float]) -> None:
    """The verdict's box. whys: per fleet that cannot run, the limit in words; here: see `flips_text`."""
    verdict = answer["verdict"]
    icon, color = (":material/help:", "gray") if unknown(answer) else DECISIONS[verdict["decision"]]
    with st.container(border=True, key="verdict", gap="xsmall"):
        said = text(
            "verdict.line", title=f":{color}[{title(verdict, answer)}]", sentence=sentence(answer, whys)
        )
        st.markdown(f"#### {icon} {said}")
        if unknown(answer):
            return
        lines = []
        because, but = because_and_but(evaluation.verdict)
        because = because or _in_numbers(answer)
        parts = []
        for head, sentences in ((_because(verdict), because), ("verdict.but", but)):
            if sentences:
                parts.append(f"**{text(head)}** " + " ".join(plain(words) for words in sentences))
        if parts:
            lines.append(" ".join(parts))
        if verdict["vetoes"]:
            vetoes = "; ".join(plain(veto_text(veto)) for veto in verdict["vetoes"])
            lines.append(f"**{text('verdict.vetoes')}** {vetoes}{text('verdict.end')}")
        if verdict["confidence"] is not None:
            lines.append(text("verdict.confidence", percent=percent(verdict["confidence"])))
        lines.append(flips_text(answer, here) or text("verdict.no_flip"))
        st.markdown("  \n".join(lines))


def _in_numbers(answer: Answer) -> list[str]:
    """What both fleets come to, where no cause stands out; nothing where a side cannot or has no price."""
    split, colocated = answer["disaggregated"], answer["colocated"]
    costs = split.get("cost_usd_per_hour"), colocated.get("cost_usd_per_hour")
    if not (split["feasible"] and colocated["feasible"]) or None in costs:
        return []
    return [
        text(
            "verdict.in_numbers",
            split=split["gpus"],
            split_cost=money_per_hour(float(costs[0] or 0.0)),
            colocated=colocated["gpus"],
            colocated_cost=money_per_hour(float(costs[1] or 0.0)),
        )
    ]


def _because(verdict: Mapping[str, Any]) -> str:
    return "verdict.facts" if verdict["decision"] == "benchmark_first" else "verdict.because"


def title(verdict: Mapping[str, Any], answer: Answer) -> str:
    """The decision in words; "clearly" from the ratio the scenario calls clear."""
    if unknown(answer):
        return text("verdict.unknown")
    key = str(verdict["decision"])
    decisive = verdict.get(verdict.get("decided_by") or "", None)
    clear = answer["scenario"]["verdict"]["clearly_ratio"]
    if key == "disaggregate" and decisive is not None and decisive >= clear:
        key = "disaggregate_clearly"
    return text(f"verdict.{key}")


def sentence(answer: Answer, whys: Mapping[str, str]) -> str:
    """What the decision means in the number that decided it."""
    verdict = answer["verdict"]
    cannot = {fleet for fleet in ("colocated", "disaggregated") if not answer[fleet]["feasible"]}
    if missing := unknown(answer):
        return text("verdict.unknown_why", why=plain(whys.get(missing, "")))
    if len(cannot) == 2:
        return text("verdict.neither", why=plain(whys.get("colocated") or whys.get("disaggregated") or ""))
    if "disaggregated" in cannot:
        return text("verdict.only_colocated", why=plain(whys.get("disaggregated", "")))
    if "colocated" in cannot:
        return text("verdict.only_disaggregated", why=plain(whys.get("colocated", "")))
    by = verdict["decided_by"]
    ratio = verdict.get(by) if by else None
    if ratio is None:
        return ""
    shown = ratio_text(ratio)
    if abs(ratio - 1) < 0.005:
        return " ".join([text("verdict.equal", ratio=shown), disagreement(answer)]).rstrip()
    if by == "cost_ratio":
        key, change = (
            ("verdict.cost_less", 1 - 1 / ratio) if ratio > 1 else ("verdict.cost_more", 1 / ratio - 1)
        )
    else:
        stem = {"goodput_per_gpu_ratio": "verdict.gpu", "goodput_ratio": "verdict.whole"}.get(
            by, "verdict.goodput"
        )
        key, change = (f"{stem}_more", ratio - 1) if ratio > 1 else (f"{stem}_less", 1 - ratio)
    return " ".join([text(key, percent=percent(change), ratio=shown), disagreement(answer)]).rstrip()


def disagreement(answer: Answer) -> str:
    """The other ratio, where it falls in another band than the one that decided."""
    verdict = answer["verdict"]
    rule = VerdictRule.model_validate(answer["scenario"]["verdict"])
    other = other_ratio(verdict["decided_by"])
    ratio, decisive = verdict[other], verdict[verdict["decided_by"]]
    if ratio is None or band_of(rule, ratio) == band_of(rule, decisive):
        return ""
    return text(f"verdict.other_{other}", ratio=ratio_text(ratio), band=text(f"band.{band_of(rule, ratio)}"))


def unknown(answer: Answer) -> str:
    """The fleet that cannot be judged because nobody published a figure it needs; empty where both can."""
    for fleet in ("disaggregated", "colocated"):
        if (answer[fleet].get("infeasible") or {}).get("limit") == "missing_figure":
            return fleet
    return ""


def flips_text(answer: Answer, here: Mapping[str, float]) -> str:
    """The nearest flips along the sliders, those that lead to one decision together. here: where the
    scenario stands, by key.
    """
    found: list[tuple[float, str, str]] = []
    for flip in answer["verdict"]["break_even"]:
        value, key = flip["value"], str(flip["key"])
        if value is None:
            continue
        stand = here.get(key)
        known = stand is not None and stand > 0 and value > 0
        distance = abs(math.log(value / stand)) if known and stand else math.inf
        label = flip_label(key)
        unit = "" if label.endswith(str(flip["unit"])) else str(flip["unit"])
        side = flip.get("then_direction") or _side(flip, stand, answer)
        words = text(f"flip.{side}", what=plain(label), value=plain(with_unit(value, unit)))
        found.append((distance, str(flip.get("then") or ""), words))
    nearest = sorted(found, key=lambda item: item[0])[:_FLIPS]
    sentences = []
    for then in dict.fromkeys(item[1] for item in nearest):
        ways = text("verdict.or").join(words for _, to, words in nearest if to == then)
        head = text("verdict.flips_to", decision=text(f"verdict.{then}")) if then else text("verdict.flips")
        sentences.append(f"**{head}** {ways}{text('verdict.end')}")
    return " ".join(sentences)


def _side(flip: Mapping[str, Any], stand: float | None, answer: Answer) -> str:
    """On which side of the break-even the answer is another one than here."""
    if stand is not None and stand > 0 and flip["value"] > 0:
        return "below" if stand > flip["value"] else "above"
    pays = answer["verdict"]["decision"] != "stay_colocated"
    return "below" if (flip["direction"] == "above") == pays else "above"


def flip_label(key: str) -> str:
    """A slider's name within a sentence, without its unit."""
    if key.startswith("money.usd_per_hour."):
        return text("flip.price", what=key.rpartition(".")[2])
    try:
        label = text(f"field.{key}")
    except KeyError:
        return key
    label = label.partition(" (")[0].partition("（")[0]
    return label if label[:2].isupper() else label[0].lower() + label[1:]


def veto_text(veto: str) -> str:
    """What speaks against splitting, in words."""
    return text(f"veto.{veto}")


def headline(answer: Answer, kind: str) -> None:
    """Four numbers; the split's in large, the colocated fleet's below with the change against it."""
    split, colocated, verdict = answer["disaggregated"], answer["colocated"], answer["verdict"]
    with st.container(key="headline"):
        one, two, three, four = st.columns(4, gap="small")
    with one:
        _latency("metric.ttft", split, colocated, "ttft_s", seconds_text, kind)
    with two:
        _latency("metric.tpot", split, colocated, "tpot_s", ms_text, kind)
    with three:
        by_cost = verdict["goodput_per_dollar_ratio"] is not None
        ratio = verdict["goodput_per_dollar_ratio"] if by_cost else verdict["goodput_per_gpu_ratio"]
        still = ratio is None or abs(ratio - 1) < 0.005
        note = text("metric.no_ratio" if ratio is None else "metric.against_ratio")
        st.metric(
            text(
                "metric.goodput_per_usd" if by_cost else "metric.goodput_per_gpu", kind=text(f"kind.{kind}")
            ),
            "–" if ratio is None else f"{ratio_text(ratio)}×",
            note if still else percent_change(ratio - 1),
            delta_color="off" if still else "normal",
            delta_arrow="off" if still else "auto",
            delta_description=None if still else note,
            help=text("metric.goodput_help"),
            border=True,
        )
    with four:
        _gpus(split, colocated, kind)


def _latency(label: str, split: Answer, colocated: Answer, key: str, shown: Any, kind: str) -> None:
    value, base = _p95(split, key), _p95(colocated, key)
    best = base if value is None else value
    _metric(
        label,
        kind,
        _none(split, colocated) if best is None else shown(best),
        None if value is None or not base else value / base - 1,
        _alone(split, colocated, value, base) or text("metric.against", value=shown(base)),
    )


def _gpus(split: Answer, colocated: Answer, kind: str) -> None:
    value, base = split["gpus"], colocated["gpus"]
    shown = text("metric.cannot") if base is None else number(base)
    if value is not None:
        shown = text("metric.pools", gpus=number(value), **split["instances"])
    _metric(
        "metric.gpus",
        kind,
        shown,
        None if value is None or not base else value / base - 1,
        _alone(split, colocated, value, base) or text("metric.against", value=number(base)),
    )


def _metric(label: str, kind: str, value: str, change: float | None, note: str) -> None:
    """A lower-is-better number: a fall is drawn as good; no change has no arrow."""
    still = change is None or abs(change) < 0.005
    st.metric(
        text(label, kind=text(f"kind.{kind}")),
        value,
        note if still or change is None else percent_change(change),
        delta_color="off" if still else "inverse",
        delta_arrow="off" if still else "auto",
        delta_description=None if still else note,
        help=text(f"{label}_help"),
        border=True,
    )


def _alone(split: Answer, colocated: Answer, value: float | None, base: float | None) -> str:
    if value is None and base is None:
        able = split["feasible"] or colocated["feasible"]
        return text("metric.not_asked" if able else "metric.neither")
    if value is None:
        return text("metric.colocated_only")
    return text("metric.split_only") if base is None else ""


def _none(split: Answer, colocated: Answer) -> str:
    return "–" if split["feasible"] or colocated["feasible"] else text("metric.cannot")


def _p95(fleet: Answer, key: str) -> float | None:
    if not fleet["feasible"] or fleet.get(key) is None:
        return None
    value = fleet[key]["p95"]
    return None if value is None else float(value)
