"""Hybrid routing: which prompts are better prefilled where they are decoded, swept in replays."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.study.hybrid import Hybrid, HybridRow, HybridRuleRow
from pdexplorer.texts.formats import number, percent, ratio_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.pick import Point
from pdexplorer.ui.tabs.studies import long_study, pick_table, table
from pdexplorer.ui.texts import text

_TABLE = "hybrid.table"


def hybrid_tab(answer: Answered) -> None:
    """What the sweep found, its rows to take one, and the rule for one prompt in numbers."""
    st.caption(text("hybrid.about"))
    found: Hybrid | None = long_study("hybrid", answer.scenario.model_dump_json())
    if found is None:
        return
    st.markdown(found_text(found))
    rows = [_swept(row, found.cost_unit) for row in found.rows]
    pick_table(_TABLE, rows, [_point(row) for row in found.rows], answer.scenario)
    st.markdown(f"**{text('hybrid.rule')}**")
    table([_ruled(row) for row in found.rule])


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


def _point(row: HybridRow) -> Point:
    words = text("pick.threshold", tokens=number(row.threshold_tokens), pools=_pools(row))
    return Point(words, threshold_settings(row))


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
