"""The answer first: one sentence with an icon, why, what would flip it, and four headline numbers."""

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.ui.formats import (
    ms_text,
    number,
    percent,
    percent_change,
    ratio_text,
    seconds_text,
    with_unit,
)
from pdexplorer.ui.texts import plain, text
from pdexplorer.verdict import band_of

DECISIONS: Mapping[str, tuple[str, str]] = {
    "disaggregate": (":material/call_split:", "violet"),
    "benchmark_first": (":material/science:", "blue"),
    "stay_colocated": (":material/join_full:", "orange"),
    "hybrid": (":material/alt_route:", "blue"),
    "infeasible": (":material/block:", "gray"),
}
"""Icon and colour of each decision; the words always stand beside them."""

_REASONS, _FLIPS = 3, 3

Answer = Mapping[str, Any]
"""An evaluation as `evaluate --json` writes it."""


def verdict_view(answer: Answer, whys: Mapping[str, str], here: Mapping[str, float]) -> None:
    """The verdict's box. whys: per fleet that cannot run, the limit in words; here: see `flips_text`."""
    verdict = answer["verdict"]
    icon, color = (":material/help:", "gray") if unknown(answer) else DECISIONS[verdict["decision"]]
    with st.container(border=True, key="verdict", gap="xsmall"):
        st.markdown(f"#### {icon} :{color}[{title(verdict, answer)}]: {sentence(answer, whys)}")
        if unknown(answer):
            return
        lines = []
        reasons = " ".join(plain(reason) for reason in reasons_shown(answer, whys))
        if reasons:
            lines.append(f"**{text('verdict.because')}** {reasons}")
        if verdict["vetoes"]:
            vetoes = "; ".join(plain(veto_text(veto)) for veto in verdict["vetoes"])
            lines.append(f"**{text('verdict.vetoes')}** {vetoes}.")
        flips = flips_text(answer, here)
        lines.append(f"**{text('verdict.flips')}** {flips}." if flips else text("verdict.no_flip"))
        st.markdown("  \n".join(lines))


def reasons_shown(answer: Answer, whys: Mapping[str, str]) -> list[str]:
    """The weightiest reasons, without a limit that the sentence above them has just named."""
    said = [why for why in whys.values() if why]
    texts = [str(reason["text"]) for reason in answer["verdict"]["reasons"]]
    return [words for words in texts if not any(why in words for why in said)][:_REASONS]


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
        stem = "verdict.gpu" if by == "goodput_per_gpu_ratio" else "verdict.goodput"
        key, change = (f"{stem}_more", ratio - 1) if ratio > 1 else (f"{stem}_less", 1 - ratio)
    return " ".join([text(key, percent=percent(change), ratio=shown), disagreement(answer)]).rstrip()


def disagreement(answer: Answer) -> str:
    """The other ratio, where it falls in another band than the one that decided."""
    verdict = answer["verdict"]
    rule = VerdictRule.model_validate(answer["scenario"]["verdict"])
    other = "goodput_per_dollar_ratio" if verdict["decided_by"] == "cost_ratio" else "cost_ratio"
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
    """The nearest flips along the sliders, joined by "or". here: where the scenario stands, by key.

    A break-even says on which side splitting pays; the answer flips on crossing it from here.
    """
    verdict = answer["verdict"]
    found: list[tuple[float, str]] = []
    for flip in verdict["break_even"]:
        value, key = flip["value"], str(flip["key"])
        if value is None:
            continue
        stand = here.get(key)
        if stand is None or stand <= 0 or value <= 0:
            pays = verdict["decision"] != "stay_colocated"
            side, distance = "below" if (flip["direction"] == "above") == pays else "above", math.inf
        else:
            side, distance = "below" if stand > value else "above", abs(math.log(value / stand))
        label = flip_label(key)
        unit = "" if label.endswith(str(flip["unit"])) else str(flip["unit"])
        found.append((distance, text(f"flip.{side}", what=plain(label), value=plain(with_unit(value, unit)))))
    nearest = [words for _, words in sorted(found, key=lambda pair: pair[0])]
    return " or ".join(nearest[:_FLIPS])


def flip_label(key: str) -> str:
    """A slider's name within a sentence, without its unit."""
    if key.startswith("money.usd_per_hour."):
        return text("flip.price", what=key.rpartition(".")[2])
    try:
        label = text(f"field.{key}")
    except KeyError:
        return key
    label = label.partition(" (")[0]
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
        text("metric.cannot") if best is None else shown(best),
        None if value is None or not base else value / base - 1,
        _alone(value, base) or text("metric.against", value=shown(base)),
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
        _alone(value, base) or text("metric.against", value=number(base)),
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


def _alone(value: float | None, base: float | None) -> str:
    if value is None:
        return text("metric.neither" if base is None else "metric.colocated_only")
    return text("metric.split_only") if base is None else ""


def _p95(fleet: Answer, key: str) -> float | None:
    if not fleet["feasible"] or fleet.get(key) is None:
        return None
    value = fleet[key]["p95"]
    return None if value is None else float(value)
