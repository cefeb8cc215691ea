"""The switch between the page's languages; what it chooses stands in the address."""

import streamlit as st

from pdexplorer.texts.catalogue import LANGUAGES
from pdexplorer.ui.texts import language, text

_NAMES = {"en": "English", "zh": "简体中文"}
_KEY = "in.lang"


def language_switch() -> None:
    """Both names in their own language, so that each reader finds theirs."""
    now = language()
    if st.session_state.get(_KEY) != now:
        st.session_state[_KEY] = now
    st.segmented_control(
        text("page.language"),
        LANGUAGES,
        format_func=_NAMES.__getitem__,
        key=_KEY,
        required=True,
        label_visibility="collapsed",
        on_change=_chosen,
    )


def _chosen() -> None:
    chosen = st.session_state[_KEY]
    if chosen in LANGUAGES:
        set_in_address("lang", chosen)


def set_in_address(key: str, value: str) -> None:
    """One reserved key of the address; the question stays the one on the page."""
    session = st.session_state
    st.query_params[key] = value
    if "address" in session:
        session["address"] = dict(st.query_params.to_dict())


def drop_from_address(key: str) -> None:
    """Takes a reserved key out of the address."""
    session = st.session_state
    if key in st.query_params:
        del st.query_params[key]
    if "address" in session:
        session["address"] = dict(st.query_params.to_dict())
