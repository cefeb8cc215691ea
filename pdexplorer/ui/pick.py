"""Points that can be taken over: a cell of the map, a point of a curve, a bar, a row of a table.

Each can be clicked where it is drawn, or found in a list that a keyboard reaches. Both say what was picked
and offer one button; what it changes is an edit like any other, one entry in the browser's history.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.ui.edits import queue_preset, queue_settings
from pdexplorer.ui.texts import plain, text

PICKED = "picked"
"""What every chart calls its clicked mark."""


@dataclass(frozen=True)
class Point:
    """words: what it is, in a list. wanted: the settings it stands for; or a whole question, as a preset's
    name or as a link with its `?`.
    """

    words: str
    wanted: Mapping[str, str] | str


def picked_mark(chart: str) -> Mapping[str, Any] | None:
    """The fields of the clicked mark of the chart with that key; None where none is clicked."""
    marks = (_selection(chart) or {}).get(PICKED) or []
    return marks[0] if marks else None


def picked_row(table: str, rows: int) -> int | None:
    """Which row of the table with that key is selected, of so many; None where none is."""
    selected = (_selection(table) or {}).get("rows") or []
    return int(selected[0]) if selected and selected[0] < rows else None


def pick(
    place: str,
    points: Callable[[], Sequence[Point]],
    clicked: Point | None,
    scenario: Scenario,
    use: str = "pick.use",
    listed: str = "pick.list",
) -> None:
    """A button that opens the list of points, which are asked for only then, and what was chosen or clicked
    with its button. place: the chart's or table's key. use, listed: ids of the
    buttons' texts.
    """
    with st.container(horizontal=True, key=f"offer.{place}", vertical_alignment="center", gap="small"):
        opened = bool(st.session_state.get(_opened(place)))
        st.button(
            text("pick.close" if opened else listed), key=f"list.{place}", type="tertiary",
            icon=":material/format_list_bulleted:", on_click=_toggle, args=(place, not opened),
        )  # fmt: skip
        chosen = _chosen(place, points()) if opened else None
        taken = st.session_state.get(f"taken.{place}") == _selection(place)
        point = chosen or (None if taken else clicked)
        if point is not None and _changes(point, scenario):
            _offer(place, point, use, said=chosen is None)


def _chosen(place: str, points: Sequence[Point]) -> Point | None:
    listed = {point.words: point for point in points}
    words = st.selectbox(
        text("pick.choose"),
        list(listed),
        index=None,
        placeholder=text("pick.none_yet"),
        key=f"choose.{place}",
        label_visibility="collapsed",
        width=320,
    )
    return listed.get(words or "")


def _offer(place: str, point: Point, use: str, said: bool) -> None:
    key = f"use.{place}"
    if said:
        st.caption(text("pick.picked", point=plain(point.words)), width="content")
    st.button(
        text(use), key=key, type="secondary", icon=":material/my_location:",
        on_click=_take, args=(key, place, point.wanted),
    )  # fmt: skip


def _changes(point: Point, scenario: Scenario) -> bool:
    """Whether taking the point would change anything."""
    return isinstance(point.wanted, str) or apply_settings(scenario, point.wanted)[0] != scenario


def _take(key: str, place: str, wanted: Mapping[str, str] | str) -> None:
    """The mark stays selected in the browser, while the curve may move from under it; the list closes."""
    st.session_state[f"taken.{place}"] = _selection(place)
    _toggle(place, False)
    if isinstance(wanted, str):
        queue_preset(key, wanted)
    else:
        queue_settings(key, wanted)


def _toggle(place: str, opened: bool) -> None:
    st.session_state[_opened(place)] = opened


def _opened(place: str) -> str:
    return f"listed.{place}"


def _selection(place: str) -> Any:
    return (st.session_state.get(place) or {}).get("selection")
