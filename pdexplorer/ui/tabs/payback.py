"""Is it worth the complexity: what splitting costs once and every month, when it has paid for itself, and the
questions to answer first.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.charts.lines import COLUMNS, fleet_lines, line_frame
from pdexplorer.charts.template import to_template
from pdexplorer.study.checklist import checklist
from pdexplorer.study.faults import FaultRow
from pdexplorer.study.payback import Payback, payback
from pdexplorer.texts.chinese_checklist import CHECKLIST
from pdexplorer.texts.formats import number, rounded
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.chart import chart
from pdexplorer.ui.figures import fleet_texts
from pdexplorer.ui.tabs.studies import table
from pdexplorer.ui.texts import language, said, text
from pdexplorer.ui.work.board import board
from pdexplorer.ui.work.study import Study


def payback_tab(answer: Answered) -> None:
    """The items, the money over the years, the checklist."""
    st.caption(text("payback.about"))
    found = payback(answer.evaluation)
    if found is None:
        st.caption(text("work.none"))
    else:
        _money(found)
    st.markdown(f"**{text('checklist.title')}**")
    faults = _replayed(answer)
    if not faults:
        st.caption(text("checklist.replay"))
    rows: list[Mapping[str, Any]] = []
    for row in checklist(faults):
        asked = CHECKLIST.get(row.key) if language() == "zh" else None
        question, reply = asked or (row.question, row.answer)
        cells = {text("checklist.question"): question, text("checklist.answer"): reply}
        if faults:
            cells[text("checklist.cost")] = said(row.cost)
        rows.append(cells)
    st.table(pd.DataFrame(rows).set_index(text("checklist.question")))


def _replayed(answer: Answered) -> tuple[FaultRow, ...]:
    """What each fault costs, where the Faults tab has replayed this scenario."""
    job = board().find(Study("faults", answer.scenario.model_dump_json()))
    return tuple(job.result or ()) if job is not None and job.finished else ()


def _money(found: Payback) -> None:
    months = found.payback_months
    if months is None:
        st.markdown(text("payback.never", net=rounded(found.net_usd_per_month)))
    else:
        st.markdown(
            text(
                "payback.months",
                months=number(months),
                years=number(found.years),
                net=rounded(found.net_usd),
            )
        )
    once, monthly = text("payback.once"), text("payback.monthly")
    rows: list[Mapping[str, Any]] = [
        {text("payback.item"): text(f"payback.row_{row.key}"), once: row.once_usd, monthly: row.usd_per_month}
        for row in found.rows
    ]
    table(rows)
    points = [("disaggregated", float(month), usd) for month, usd in enumerate(found.cumulative_usd)]
    points += [("colocated", 0.0, 0.0), ("colocated", float(len(found.cumulative_usd) - 1), 0.0)]
    chart(
        line_frame(points, fleet_texts()),
        _template(language()),
        alt=text("payback.alt", net=rounded(found.net_usd), years=number(found.years)),
        key="chart.payback",
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _template(language: str) -> dict[str, Any]:
    return to_template(
        fleet_lines(
            pd.DataFrame({column: [] for column in COLUMNS}),
            fleet_texts=fleet_texts(),
            x_title=text("payback.x"),
            y_title=text("payback.y"),
        )
    )
