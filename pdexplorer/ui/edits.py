"""What a visitor changed since the last run, told apart from a browser that has not caught up yet.

Several inputs show one number, and a preset moves all of them. When the page sets an input, the browser
learns of it only after the run; a key pressed meanwhile sends that input's old value along, and Streamlit
reports it as a change. Taken at its word, such an echo would undo the edit it came with. So changes are
queued, and those that only repeat what the page itself had in that input a moment ago are dropped.
"""

import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

_KEPT = 16
_ECHO_S = 0.5
"""Nobody changes an input back by hand within this time of the page changing it."""


def follow(widget: str, value: Any) -> None:
    """Sets an input to the scenario's value, only where they differ: a moving slider is left alone."""
    session = st.session_state
    if widget not in session:
        session[widget] = value
    elif session[widget] != value:
        now = time.monotonic()
        known = _echoes().get(widget, [])
        _echoes()[widget] = [*known, (session[widget], now), (value, now)][-_KEPT:]
        session[widget] = value


def queue_settings(widget: str, settings: Mapping[str, Any]) -> None:
    """For an input's callback: these dotted settings are wanted."""
    _queue().append((widget, dict(settings)))


def queue_preset(widget: str, name: str) -> None:
    """For a callback that opens a preset, or another question as a link that starts with `?`."""
    _queue().append((widget, name))


def take_edits() -> list[dict[str, Any] | str]:
    """The visitor's edits since the last run, oldest first: dotted settings, or a preset's name. Empties the
    queue.
    """
    queue = list(_queue())
    st.session_state["edits"] = []
    return [edit for widget, edit in queue if not _is_echo(widget, alone=len(queue) == 1)]


def _is_echo(widget: str, alone: bool) -> bool:
    """A change that comes alone is the visitor's own, unless it follows the page's at once."""
    value, now = st.session_state.get(widget), time.monotonic()
    return any(
        value == before and (not alone or now - at < _ECHO_S) for before, at in _echoes().get(widget, ())
    )


def _queue() -> list[tuple[str, dict[str, Any] | str]]:
    queue: list[tuple[str, dict[str, Any] | str]] = st.session_state.setdefault("edits", [])
    return queue


def _echoes() -> dict[str, list[tuple[Any, float]]]:
    echoes: dict[str, list[tuple[Any, float]]] = st.session_state.setdefault("echoes", {})
    return echoes
