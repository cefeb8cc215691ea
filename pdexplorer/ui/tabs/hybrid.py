"""Hybrid routing: which prompts are better prefilled where they are decoded, swept in replays."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.study.hybrid import Hybrid, HybridRow, HybridRuleRow
from pdexplorer.texts.formats import number, percent, ratio_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.pick import offer
from pdexplorer.ui.tabs.studies import long_study, table
from pdexplorer.ui.texts import text

_TABLE = "hybrid.table"


def hybrid_tab(answer: Answered) -> None:
    """What the sweep found, its rows to take one, and the rule for one prompt in numbers."""
    st.caption(text("hybrid.about"))
    found: Hybrid | None = long_study("hybrid", answer.scenario)
    if found is None:
        return
    st.markdown(found_text(found))
    event: Any = table(
        [_swept(row, found.cost_unit) for row in found.rows],
        {text("hybrid.capacity"): "%.4g", text("hybrid.score", unit=found.cost_unit): "%.4g"}
        | {text(f"hybrid.{name}"): "%.2f" for name in ("over_split", "over_colocated")},
        height="content",
        on_select="rerun",
        selection_mode="single-row",
        key=_TABLE,
    )
    for row in [found.rows[at] for at in event.selection.rows if at < len(found.rows)]:
        words = f"{text('hybrid.threshold')} {number(row.threshold_tokens)}, {_pools(row)}"
        offer(_TABLE, words, threshold_settings(row), answer.scenario)
    st.markdown(f"**{text('hybrid.rule')}**")
    rule = {text(f"hybrid.{name}"): "%.3g" for name in ("remote", "local", "held_up")}
    table([_ruled(row) for row in found.rule], rule, height="content")


def found_text(found: Hybrid) -> str:
    """The sweep's result in one sentence."""
    if not found.pays:
        return text("hybrid.no")
    return text(
        "hybrid.pays",
        threshold=number(found.best.threshold_tokens),
        gain=ratio_text(found.gain),
        remote=percent(found.best.remote_fraction),
    )


def threshold_settings(row: HybridRow) -> dict[str, str]:
    """The settings under which a replay routes as in that row."""
    return {
        "routing.local_threshold_tokens": str(row.threshold_tokens),
        "prefill.instances": str(row.prefill),
        "decode.instances": str(row.decode),
    }


def _pools(row: HybridRow) -> str:
    return f"{row.prefill}P + {row.decode}D"


def _swept(row: HybridRow, unit: str) -> Mapping[str, Any]:
    return {
        text("hybrid.threshold"): row.threshold_tokens,
        text("column.instances"): _pools(row),
        text("hybrid.sent"): percent(row.remote_fraction),
        text("sizing.attainment"): percent(row.attainment_fraction),
        text("hybrid.capacity"): row.capacity_per_s,
        text("hybrid.score", unit=unit): row.score,
        text("hybrid.over_split"): row.gain_over_split,
        text("hybrid.over_colocated"): row.gain_over_colocated,
    }


def _ruled(row: HybridRuleRow) -> Mapping[str, Any]:
    return {
        text("hybrid.uncached"): row.uncached_tokens,
        text("hybrid.remote"): row.remote_s * 1e3,
        text("hybrid.local"): row.local_s * 1e3,
        text("hybrid.held_up"): row.held_up_s * 1e3,
    }
