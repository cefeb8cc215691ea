"""Which input moves the answer most, and how sure the verdict is."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.charts.template import to_template
from pdexplorer.charts.tornado import COLUMNS, tornado, tornado_frame
from pdexplorer.scenario.keys import keys
from pdexplorer.study.sensitivity import SensitivityRow
from pdexplorer.texts.formats import percent, ratio_text, with_unit
from pdexplorer.texts.verdict_words import flip_label
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.chart import chart
from pdexplorer.ui.fields import catalogue_names, number_text
from pdexplorer.ui.pick import PICKED, Point, pick, picked_mark
from pdexplorer.ui.tabs.studies import long_study, sensitivity_study
from pdexplorer.ui.texts import language, said, text, texts

_SHOWN = 12
_SEEN = 0.005  # of the gain: less than a bar shows
_CHART = "chart.tornado"


def sensitivity_tab(answer: Answered) -> None:
    """The tornado, then confidence on request."""
    found = sensitivity_study(answer.scenario)
    gain = found.gain
    if gain is None or not found.rows:
        st.caption(text("work.none"))
        return
    by_reach = sorted(found.rows, key=lambda row: -reach(row, gain))
    rows = [row for row in by_reach if reach(row, gain) >= _SEEN][:_SHOWN]
    names = catalogue_names("accelerators", answer.catalog)
    st.caption(text("sensitivity.about", gain=ratio_text(gain)))
    low, high = text("sensitivity.low"), text("sensitivity.high")
    marks = [
        (
            _label(row, names),
            with_unit(row.low_value, row.unit),
            row.gain_low,
            with_unit(row.high_value, row.unit),
            row.gain_high,
        )
        for row in rows
    ]
    chart(
        tornado_frame(marks, gain, low, high),
        _template(language()),
        alt=text("sensitivity.alt", what=marks[0][0]),
        key=_CHART,
        picks=True,
    )
    points = value_points(rows, names)
    mark = picked_mark(_CHART) or {}
    clicked = points.get((str(mark.get("input")), str(mark.get("side"))))
    pick(_CHART, lambda: list(points.values()), clicked, answer.scenario)
    cannot = [name for name, _, gain_low, _, gain_high in marks if gain_low is None or gain_high is None]
    if cannot:
        st.caption(text("sensitivity.cannot", what=", ".join(cannot)))
    still = [_label(row, names) for row in by_reach if reach(row, gain) < _SEEN]
    if still:
        st.caption(text("sensitivity.still", what=", ".join(still)))
    _confidence(answer)


def value_points(rows: Iterable[SensitivityRow], names: Mapping[str, str]) -> dict[tuple[str, str], Point]:
    """By bar and side the value tried there; an efficiency is fitted, nobody sets it."""
    low, high = text("sensitivity.low"), text("sensitivity.high")
    return {
        (_label(row, names), side): Point(
            text(
                "pick.input", what=_label(row, names), value=with_unit(value, row.unit), gain=_gain_text(gain)
            ),
            {row.key: number_text(float(f"{value:.6g}"))},
        )
        for row in rows
        if row.key in keys()
        for side, value, gain in ((low, row.low_value, row.gain_low), (high, row.high_value, row.gain_high))
    }


def _gain_text(gain: float | None) -> str:
    return text("map.neither") if gain is None else f"{ratio_text(gain)}×"


def reach(row: SensitivityRow, gain: float) -> float:
    """How far the gain moves at most, as a share of it; infinite where one end has no gain to show."""
    ends = (row.gain_low, row.gain_high)
    return max(math.inf if end is None else abs(end / gain - 1.0) for end in ends)


def _label(row: SensitivityRow, names: Mapping[str, str]) -> str:
    """The input in words, with accelerators by name instead of id."""
    label = flip_label(texts(), row.key)
    words = said(row.label) if label == row.key else label
    return re.sub(r"[a-z0-9]+(_[a-z0-9]+)+", lambda found: names.get(found[0], found[0]), words)


def _confidence(answer: Answered) -> None:
    st.markdown(f"**{text('confidence.title')}**")
    asked: Mapping[str, bool] = st.session_state.setdefault("confidence.asked", {})
    key = answer.scenario.model_dump_json()
    if key not in asked:
        st.caption(text("confidence.about"))
        if not st.button(text("work.start"), key="confidence.start"):
            return
        st.session_state["confidence.asked"] = {key: True}
    found = long_study("confidence", answer.scenario.model_dump_json())
    if found is None:
        return
    sentences = [text("confidence.agree", percent=percent(found.agreeing))]
    if found.gain_low is not None and found.gain_high is not None:
        shown = {"low": ratio_text(found.gain_low), "high": ratio_text(found.gain_high)}
        sentences.append(text("confidence.interval", **shown))
    if found.undecided:
        sentences.append(text("confidence.undecided"))
    st.markdown(" ".join(sentences))


@st.cache_resource(max_entries=4, show_spinner=False)
def _template(language: str) -> dict[str, Any]:
    return to_template(
        tornado(
            pd.DataFrame({column: [] for column in COLUMNS}),
            x_title=text("sensitivity.x"),
            tried_title=text("sensitivity.tried"),
            low=text("sensitivity.low"),
            high=text("sensitivity.high"),
            picked=PICKED,
        )
    )
