"""Where the time goes: TTFT and TPOT of both fleets in parts, and when a fetch beats prefilling again."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.charts.template import to_template
from pdexplorer.charts.time_bars import COLORS, COLUMNS, time_bars, time_frame
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.recompute import RecomputeRow
from pdexplorer.study.time_split import TPOT_PARTS, TTFT_PARTS, TimeRow
from pdexplorer.texts.formats import ms_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.chart import chart
from pdexplorer.ui.chart_key import heading
from pdexplorer.ui.pick import PICKED, Point, pick, picked_mark
from pdexplorer.ui.tabs.studies import table, time_study
from pdexplorer.ui.texts import language, text

_PARTS: Mapping[str, tuple[str, ...]] = {"ttft": TTFT_PARTS, "tpot": TPOT_PARTS}


def latency_tab(answer: Answered) -> None:
    """Two charts of stacked bars, then the table of fetching against recomputing."""
    rows, fetches = time_study(answer.scenario)
    st.caption(text("latency.about"))
    for metric in _PARTS:
        bars = [(_bar(r), r.parts_s) for r in rows if r.metric == metric]
        if not bars:
            continue
        what = text(f"latency.{metric}")
        totals = ", ".join(f"{name} {ms_text(sum(parts.values()))}" for name, parts in bars)
        st.html(heading(what, {part: COLORS[part] for part in _PARTS[metric]}, part_texts(metric)))
        chart(
            time_frame(bars, part_texts(metric)),
            _template(metric, language()),
            alt=text("latency.alt", what=what, parts=totals),
            key=f"chart.split.{metric}",
            picks=True,
        )
        _pick_percentile(f"chart.split.{metric}", [r for r in rows if r.metric == metric], answer.scenario)
    if fetches:
        _fetches(fetches)


def _bar(row: TimeRow) -> str:
    return text("latency.bar", fleet=text(f"fleet.{row.fleet}"), percentile=row.percentile)


def _pick_percentile(chart: str, rows: Iterable[TimeRow], scenario: Scenario) -> None:
    points = {
        _bar(row): Point(
            text("pick.percentile", bar=_bar(row), percentile=row.percentile),
            {"slo.percentile": str(row.percentile)},
        )
        for row in rows
    }
    bar = (picked_mark(chart) or {}).get("bar")
    pick(chart, lambda: list(points.values()), points.get(str(bar)), scenario)


def part_texts(metric: str) -> dict[str, str]:
    """The parts of TTFT or TPOT by key, in order."""
    return {part: text(f"split.{part}") for part in _PARTS[metric]}


def _fetches(fetches: tuple[RecomputeRow, ...]) -> None:
    st.caption(text("recompute.about"))
    columns = [
        text(f"recompute.{name}") for name in ("tokens", "size", "prefill", "transfer", "rate", "faster")
    ]
    rows: list[Mapping[str, Any]] = [
        dict(
            zip(
                columns,
                (
                    row.tokens,
                    row.kv_bytes / 1e9,
                    row.prefill_s * 1e3,
                    row.transfer_s * 1e3,
                    row.break_even_gbit_per_s,
                    text("recompute.fetch" if row.fetch_is_faster else "recompute.again"),
                ),
                strict=True,
            )
        )
        for row in fetches
    ]
    table(rows)


@st.cache_resource(max_entries=8, show_spinner=False)
def _template(metric: str, language: str) -> dict[str, Any]:
    return to_template(
        time_bars(
            pd.DataFrame({column: [] for column in COLUMNS}),
            part_texts=part_texts(metric),
            x_title="ms",
            picked=PICKED,
        )
    )
