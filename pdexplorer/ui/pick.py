"""Points that can be taken over: a cell of the map, a point of a curve, a bar, a row of a table.

All say what was picked and offer one button; what it changes is an edit like any other, one entry in the
browser's history.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.ui.edits import queue_preset, queue_settings
from pdexplorer.ui.texts import plain, text

PICKED = "picked"
"""What every chart calls its clicked mark."""


def picked_mark(chart: str) -> Mapping[str, Any] | None:
    """The fields of the clicked mark of the chart with that key; None where none is clicked."""
    marks = (_selection(chart) or {}).get(PICKED) or []
    return marks[0] if marks else None


def offer(place: str, words: str, wanted: Mapping[str, str] | str, scenario: Scenario) -> None:
    """Words and the button that takes what is wanted: settings, or a whole question as a link with its `?`.
    Nothing where it has been taken, or the scenario has the settings anyway. place: the chart's or table's
    key.
    """
    if not isinstance(wanted, str) and apply_settings(scenario, wanted)[0] == scenario:
        return
    if st.session_state.get(f"taken.{place}") == _selection(place):
        return
    key = f"use.{place}"
    with st.container(horizontal=True, key=f"offer.{place}", vertical_alignment="center", gap="medium"):
        st.caption(plain(words), width="content")
        st.button(
            text("pick.use"), key=key, type="secondary", icon=":material/my_location:",
            on_click=_take, args=(key, place, wanted),
        )  # fmt: skip


def _take(key: str, place: str, wanted: Mapping[str, str] | str) -> None:
    """The mark stays selected in the browser, while the curve may move from under it."""
    st.session_state[f"taken.{place}"] = _selection(place)
    if isinstance(wanted, str):
        queue_preset(key, wanted)
    else:
        queue_settings(key, wanted)


def _selection(place: str) -> Any:
    return (st.session_state.get(place) or {}).get("selection")
