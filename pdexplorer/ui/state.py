"""What the page is asked, kept in the session and in the address; the address is the only thing to share.

The session holds one valid scenario. A widget's change is applied to it as a dotted setting, like a link's;
what was refused is said and the widget goes back. Streamlit's own `bind="query-params"` is not used: it
resets an out-of-range value without a word, turns a change of preset into mixed states that Back walks
through, and cannot carry the version and the preset's hash. Writing the address once a choice gives one
history entry a choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pdexplorer.scenario.link import parse_link, parse_query, to_query
from pdexplorer.scenario.presets import Preset, Presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import Refusal, apply_settings
from pdexplorer.ui.edits import take_edits

KEPT = ("view", "lang", "a")
"""Reserved keys of the address that a change of the scenario leaves as they are."""


@dataclass(frozen=True)
class Asked:
    """The question on the page. refused and changed are about the link it came from, or the last edit."""

    preset: Preset
    scenario: Scenario
    refused: tuple[Refusal, ...] = ()
    changed: tuple[str, ...] = ()
    from_link: bool = True


def current(presets: Presets) -> Asked:
    """The question to show: the session's with the edits since, or a new address's (first visit, Back).

    A preset is taken as it is, nothing kept from before. What an edit cannot change is said and stays.
    """
    session = st.session_state
    query = dict(st.query_params.to_dict())
    behind = bool(session.get("edits")) or session.get("edited")  # then the browser's address is old, not new
    edits = take_edits()
    moved = query != session.get("address") and not behind
    if "asked" not in session or moved:
        link = parse_query(_all_values(), presets)
        session["asked"] = Asked(link.preset, link.scenario, link.refused, link.changed)
        session["address"] = query
    asked: Asked = session["asked"]
    for edit in edits:
        asked = _edited(asked, edit, presets)
        session["asked"], session["edited"] = asked, True
    return asked


def _edited(asked: Asked, edit: Mapping[str, Any] | str, presets: Presets) -> Asked:
    if isinstance(edit, str) and edit.startswith("?"):
        link = parse_link(edit, presets)
        return Asked(link.preset, link.scenario, link.refused, link.changed)
    if isinstance(edit, str):
        return Asked(presets[edit], presets[edit].scenario, from_link=False)
    scenario, refused = apply_settings(asked.scenario, edit)
    return Asked(asked.preset, scenario, refused, from_link=False)


def write_address(asked: Asked) -> None:
    """Puts the question into the address after an edit: one entry in the browser's history a choice.

    The mark of an edit stands until here: a run that the next key press interrupts leaves it to the next run.
    """
    session = st.session_state
    if not session.get("edited"):
        return
    query = to_query(asked.scenario, asked.preset)
    before = dict(st.query_params.to_dict())
    query |= {key: before[key] for key in KEPT if key in before}
    if query != before:
        st.query_params.from_dict(query)
    session["address"] = query
    session["edited"] = False


def _all_values() -> dict[str, list[str]]:
    return {key: st.query_params.get_all(key) for key in st.query_params}
