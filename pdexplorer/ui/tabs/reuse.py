"""Prefix reuse: the same conversations colocated, split without reuse, and split with reuse, side by side."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from pdexplorer.study.prefix_reuse import ReuseRow
from pdexplorer.texts.formats import ms_text, number, percent, seconds_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.tabs.studies import long_study, table
from pdexplorer.ui.texts import text


def reuse_tab(answer: Answered) -> None:
    """A row a figure, a column a run; below, how many conversations the store holds."""
    reuse = answer.scenario.reuse
    st.caption(
        text(
            "reuse.about",
            turns=number(reuse.turns),
            system=number(reuse.system_tokens),
            think=number(reuse.think_s),
        )
    )
    found: tuple[tuple[ReuseRow, ...], Mapping[str, float]] | None = long_study(
        "reuse", answer.scenario.model_dump_json()
    )
    if found is None:
        return
    rows, held = found
    if not rows:
        st.caption(text("work.none"))
        return
    table(reuse_cells(rows))
    if held.get("store"):
        st.caption(text("reuse.held", store=number(held["store"]), open=number(held["open"])))
    else:
        st.caption(text("reuse.no_store", open=number(held["open"])))


def reuse_cells(rows: tuple[ReuseRow, ...]) -> list[Mapping[str, Any]]:
    """One row a figure with its unit; a dash where a run has none."""
    shown: Mapping[str, list[str]] = {
        "hits": [percent(row.hit_fraction) for row in rows],
        "held_there": [percent(row.decode_hit_fraction) for row in rows],
        "attainment": [percent(row.attainment_fraction) for row in rows],
        "goodput": [number(row.goodput_per_s) for row in rows],
        "per_gpu": [number(row.goodput_per_gpu_s) for row in rows],
        "gpus": [number(row.gpus) for row in rows],
        "ttft_p50": [_time(row.ttft_p50_s) for row in rows],
        "ttft_p95": [_time(row.ttft_p95_s) for row in rows],
        "tpot_p95": ["–" if np.isnan(row.tpot_p95_s) else ms_text(row.tpot_p95_s) for row in rows],
        "moved": [number(row.bytes_per_request / 1e9) for row in rows],
    }
    names = [text(f"reuse.run_{row.run}") for row in rows]
    return [
        {text("reuse.figure"): text(f"reuse.{key}"), **dict(zip(names, cells, strict=True))}
        for key, cells in shown.items()
    ]


def _time(value_s: float) -> str:
    return "–" if np.isnan(value_s) else seconds_text(value_s)
