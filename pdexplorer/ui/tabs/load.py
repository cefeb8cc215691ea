"""From idle to overload: goodput and attainment of both fleets at equal cost, and the Pareto lines."""

from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.charts.lines import COLUMNS, fleet_lines, line_frame
from pdexplorer.charts.template import to_template
from pdexplorer.texts.formats import number
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.figures import fleet_texts
from pdexplorer.ui.tabs.studies import load_study
from pdexplorer.ui.texts import language, text


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
        points = [
            (
                row.fleet,
                row.rate_per_s,
                row.goodput_per_s if curve == "goodput" else row.attainment_fraction,
            )
            for row in found.rows
        ]
        what = text(f"load.{curve}")
        column.vega_lite_chart(
            line_frame(points, names, found.windows),
            _over_load(curve, language()),
            alt=text("load.alt", what=what, said=words),
            key=f"chart.load.{curve}",
        )
    if front:
        st.markdown(f"**{text('load.pareto')}**")
        points = [
            (row.fleet, row.tokens_per_s_per_user, row.output_tokens_per_s_per_gpu)
            for row in front
            if row.output_tokens_per_s_per_gpu
        ]
        st.vega_lite_chart(
            line_frame(points, names), _pareto(language()), alt=text("load.pareto_alt"), key="chart.pareto"
        )


@st.cache_resource(max_entries=8, show_spinner=False)
def _over_load(curve: str, language: str) -> dict[str, Any]:
    return to_template(
        fleet_lines(
            pd.DataFrame({column: [] for column in COLUMNS}),
            fleet_texts=fleet_texts(),
            x_title=text("load.rate"),
            y_title=text(f"load.{curve}"),
            y_format="~%" if curve == "attainment" else "~s",
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
        )
    )
