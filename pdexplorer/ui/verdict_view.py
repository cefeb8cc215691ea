"""The answer first: one sentence with an icon, why, what would flip it, and four headline numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.study.confidence import in_doubt
from pdexplorer.texts.formats import (
    ms_text,
    number,
    percent,
    percent_change,
    ratio_text,
    seconds_text,
)
from pdexplorer.texts.verdict_words import (
    Answer,
    because_and_but,
    nearest_flips,
    sentence,
    title,
    unfair,
    unknown,
)
from pdexplorer.ui.texts import plain, text, texts

DECISIONS: Mapping[str, tuple[str, str]] = {
    "disaggregate": (":material/call_split:", "violet"),
    "benchmark_first": (":material/science:", "blue"),
    "stay_colocated": (":material/join_full:", "orange"),
    "hybrid": (":material/alt_route:", "blue"),
    "infeasible": (":material/block:", "gray"),
}
"""Icon and colour of each decision; the words always stand beside them."""


@dataclass(frozen=True)
class VerdictPlaces:
    """Places in the verdict's box: its words, and what would flip it, None where nothing would."""

    words: DeltaGenerator
    flips: DeltaGenerator | None


def verdict_view(evaluation: Any, answer: Answer, whys: Mapping[str, str]) -> VerdictPlaces:
    """The verdict's box. whys: per fleet that cannot run, the limit in words."""
    with st.container(border=True, key="verdict", gap="xsmall"):
        words = st.empty()
        verdict_words(words, evaluation, answer, whys)
        if unknown(answer):
            return VerdictPlaces(words, None)
        flips = st.container(key="flips")
        flips.empty()  # an empty container takes no place, one with this does
        return VerdictPlaces(words, flips)


def verdict_words(place: DeltaGenerator, evaluation: Any, answer: Answer, whys: Mapping[str, str]) -> None:
    """The sentence, and why; instead of what stood there."""
    verdict = answer["verdict"]
    icon, color = (":material/help:", "gray") if unknown(answer) else DECISIONS[verdict["decision"]]
    said = text(
        "verdict.line",
        title=f":{color}[{title(texts(), answer)}]",
        sentence=sentence(texts(), answer, whys, plain),
    )
    lines = [] if unknown(answer) else _reasons(evaluation, answer)
    with place.container(gap="xsmall"):
        st.markdown(f"#### {icon} {said}")
        if lines:
            st.markdown("  \n".join(lines))


def _reasons(evaluation: Any, answer: Answer) -> list[str]:
    verdict = answer["verdict"]
    lines = []
    if note := unfair(texts(), evaluation.scenario, load_catalog()):
        lines.append(plain(note))
    because, but = because_and_but(texts(), evaluation.verdict, answer)
    parts = []
    for head, sentences in ((_because(verdict), because), ("verdict.but", but)):
        if sentences:
            parts.append(f"**{text(head)}** " + " ".join(plain(words) for words in sentences))
    if parts:
        lines.append(" ".join(parts))
    if verdict["vetoes"]:
        vetoes = "; ".join(plain(text(f"veto.{veto}")) for veto in verdict["vetoes"])
        lines.append(f"**{text('verdict.vetoes')}** {vetoes}{text('verdict.end')}")
    if verdict["confidence"] is not None:
        key = "verdict.leaning_share" if verdict["undecided"] else "verdict.confidence"
        lines.append(text(key, percent=percent(verdict["confidence"])))
    elif in_doubt(evaluation):
        lines.append(text("verdict.close"))
    return lines


def flips_line(answer: Answer, here: Mapping[str, float]) -> None:
    """What would flip the verdict. here: where the scenario stands, by key."""
    flips = [f"**{head}** {ways}" for head, ways in nearest_flips(texts(), answer, here, plain)]
    st.markdown(" ".join(flips) or text("verdict.no_flip"))


def _because(verdict: Mapping[str, Any]) -> str:
    return "verdict.facts" if verdict["decision"] == "benchmark_first" else "verdict.because"


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
        by, ratio = _headline_ratio(verdict)
        still = ratio is None or abs(ratio - 1) < 0.005
        note = text("metric.no_ratio" if ratio is None else "metric.against_ratio")
        st.metric(
            text(f"metric.{by}", kind=text(f"kind.{kind}")),
            "–" if ratio is None else f"{ratio_text(ratio)}×",
            note if ratio is None or still else percent_change(ratio - 1),
            delta_color="off" if still else "normal",
            delta_arrow="off" if still else "auto",
            delta_description=None if still else note,
            help=text("metric.goodput_help"),
            border=True,
        )
    with four:
        _gpus(split, colocated, kind)


def _headline_ratio(verdict: Mapping[str, Any]) -> tuple[str, float | None]:
    """Split over colocated in goodput: of whole fleets where these decide, else by cost, else by GPUs."""
    if verdict["decided_by"] == "goodput_ratio":
        return "goodput_whole", verdict["goodput_ratio"]
    if verdict["goodput_per_dollar_ratio"] is not None:
        return "goodput_per_usd", verdict["goodput_per_dollar_ratio"]
    return "goodput_per_gpu", verdict["goodput_per_gpu_ratio"]


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
