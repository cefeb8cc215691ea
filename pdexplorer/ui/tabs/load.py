"""From idle to overload: goodput and attainment of both fleets at equal cost, and the Pareto lines."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from pdexplorer.charts.lines import COLUMNS, fleet_lines, line_frame
from pdexplorer.charts.template import to_template
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.regimes import ParetoRow, RegimeRow
from pdexplorer.texts.formats import number, percent
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.chart import chart
from pdexplorer.ui.fields import number_text
from pdexplorer.ui.figures import fleet_texts
from pdexplorer.ui.pick import PICKED, Point, pick, picked_mark
from pdexplorer.ui.tabs.studies import load_study
from pdexplorer.ui.texts import language, text

_PARETO = "chart.pareto"
Row = TypeVar("Row", RegimeRow, ParetoRow)


def load_tab(answer: Answered) -> None:
    """Two curves over load side by side, then the Pareto line."""
    found, front = load_study(answer.scenario)
    if found is None:
        st.caption(text("work.none"))
        return
    st.caption(text("load.about", size=number(found.size), unit=found.size_unit))
    key = "load.windows" if found.windows else "load.no_window"
    ranges = ", ".join(f"{number(low)}–{number(high)}" for low, high in found.windows)
    knees = {"colocated": found.colocated_knee_per_s, "split": found.disaggregated_knee_per_s}
    words = text(key, ranges=ranges, **{name: number(knee) for name, knee in knees.items()})
    st.markdown(words)
    names = fleet_texts()
    for column, curve in zip(st.columns(2), ("goodput", "attainment"), strict=True):
        key = f"chart.load.{curve}"
        points = [
            (
                row.fleet,
                row.rate_per_s,
                row.goodput_per_s if curve == "goodput" else row.attainment_fraction,
            )
            for row in found.rows
        ]
        what = text(f"load.{curve}")
        with column:
            chart(
                line_frame(points, names, found.windows),
                _over_load(curve, language()),
                alt=text("load.alt", what=what, said=words),
                key=key,
                picks=True,
            )
            near = _nearest(found.rows, key, lambda row: row.rate_per_s)
            pick(
                key,
                lambda: [_rate_point(row, answer.scenario) for row in found.rows],
                None if near is None else _rate_point(near, answer.scenario),
                answer.scenario,
            )
    if front:
        st.markdown(f"**{text('load.pareto')}**")
        able = [row for row in front if row.output_tokens_per_s_per_gpu]
        on_front = [(row.fleet, row.tokens_per_s_per_user, row.output_tokens_per_s_per_gpu) for row in able]
        chart(
            line_frame(on_front, names),
            _pareto(language()),
            alt=text("load.pareto_alt"),
            key=_PARETO,
            picks=True,
        )
        best = _nearest(able, _PARETO, lambda row: row.tokens_per_s_per_user)
        pick(
            _PARETO,
            lambda: [_limit_point(row) for row in able],
            None if best is None else _limit_point(best),
            answer.scenario,
        )


def rate_settings(scenario: Scenario, peak_per_s: float) -> dict[str, str]:
    """The settings under which the scenario's peak load is that rate."""
    mean_per_s = float(f"{peak_per_s / scenario.workload.peak_to_mean_ratio:.3g}")
    closed = {"workload.arrivals": "poisson"} if scenario.workload.arrivals == "closed_loop" else {}
    return {"workload.rate_per_s": number_text(mean_per_s), **closed}


def _rate_point(row: RegimeRow, scenario: Scenario) -> Point:
    words = text(
        "pick.load",
        fleet=text(f"fleet.{row.fleet}"),
        rate=number(row.rate_per_s),
        goodput=number(row.goodput_per_s),
        attainment=percent(row.attainment_fraction),
    )
    return Point(words, rate_settings(scenario, row.rate_per_s))


def _limit_point(row: ParetoRow) -> Point:
    limit_ms = float(f"{row.tpot_limit_s * 1e3:.3g}")
    words = text(
        "pick.pareto",
        fleet=text(f"fleet.{row.fleet}"),
        limit=number(limit_ms),
        speed=number(row.tokens_per_s_per_user),
        rate=number(row.output_tokens_per_s_per_gpu or 0.0),
    )
    return Point(words, {"slo.tpot_ms": number_text(limit_ms)})


def _nearest(rows: Iterable[Row], chart: str, x: Callable[[Row], float]) -> Row | None:
    """The row of the clicked fleet next to the clicked place: the lines may have moved since the click."""
    mark = picked_mark(chart)
    if mark is None:
        return None
    ours = [row for row in rows if text(f"fleet.{row.fleet}") == mark.get("fleet")]
    return min(ours, key=lambda row: abs(x(row) - float(mark["x"])), default=None)


@st.cache_resource(max_entries=8, show_spinner=False)
def _over_load(curve: str, language: str) -> dict[str, Any]:
    return to_template(
        fleet_lines(
            pd.DataFrame({column: [] for column in COLUMNS}),
            fleet_texts=fleet_texts(),
            x_title=text("load.rate"),
            y_title=text(f"load.{curve}"),
            y_format="~%" if curve == "attainment" else "~s",
            picked=PICKED,
        )
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _pareto(language: str) -> dict[str, Any]:
    return to_template(
        fleet_lines(
            pd.DataFrame({column: [] for column in COLUMNS}),
            fleet_texts=fleet_texts(),
            x_title=text("load.user"),
            y_title=text("load.gpu"),
            picked=PICKED,
        )
    )
