"""How the numbers come about: formulas with this scenario's numbers, accuracy, sources, what is left out."""

from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.charts.accuracy import COLUMNS, accuracy_frame, accuracy_scatter
from pdexplorer.charts.template import to_template
from pdexplorer.evidence.methodology import StoredError, load_accuracy, methodology_rows
from pdexplorer.texts.formats import percent
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.chart import chart
from pdexplorer.ui.tabs.formulas import formulas
from pdexplorer.ui.tabs.sources import sources
from pdexplorer.ui.tabs.studies import table
from pdexplorer.ui.texts import choice_text, language, text

_LEFT_OUT = 7


def methodology_tab(answer: Answered) -> None:
    """Four parts, from formulas to what is not modelled."""
    st.markdown(f"**{text('method.formulas')}**")
    columns = [text(f"method.{name}") for name in ("what", "formula", "numbers")]
    table([dict(zip(columns, row, strict=True)) for row in formulas(answer)])
    _accuracy()
    sources(answer)
    st.markdown(f"**{text('method.left_out')}**")
    st.markdown("\n".join(f"- {text(f'method.left_out_{n}')}" for n in range(1, _LEFT_OUT + 1)))


def _accuracy() -> None:
    try:
        stored, rows = load_accuracy(), methodology_rows()
    except FileNotFoundError:
        return  # a checkout in which the errors have not been measured yet
    st.markdown(f"**{text('method.accuracy')}**")
    st.caption(text("method.accuracy_about", measured=stored.measured, version=stored.model_version))
    table(
        [
            {
                text("method.file"): choice_text("method", error.file),
                text("method.split"): choice_text("method", error.split),
                text("method.quantity"): choice_text("method", error.quantity),
                text("method.held_out"): error.held_out,
                text("method.rows"): error.rows,
                text("method.median"): _error(error, error.median),
                text("method.p90"): _error(error, error.p90),
            }
            for error in stored.errors
        ],
        height=420,
        widths={text("method.split"): 230},
    )
    points = [
        (
            choice_text("method", row.quantity),
            row.measured_ms,
            row.predicted_ms,
            f"{row.model}, {row.system}, {row.engine}",
        )
        for row in rows
    ]
    chart(
        accuracy_frame(points),
        _template(language()),
        alt=text("method.accuracy_alt", count=len(points)),
        key="chart.accuracy",
    )


def _error(error: StoredError, fraction: float) -> str:
    """Rows without an answer count as wholly wrong; where none has one, that is all there is to say."""
    return percent(fraction) if error.answered else text("method.unanswered")


@st.cache_resource(max_entries=4, show_spinner=False)
def _template(language: str) -> dict[str, Any]:
    empty = pd.DataFrame({column: [] for column in COLUMNS})
    return to_template(
        accuracy_scatter(empty, x_title=text("method.measured"), y_title=text("method.predicted"))
    )
