"""The texts of the page in the visitor's language: the address decides, else the browser."""

from contextvars import ContextVar

import streamlit as st

from pdexplorer.scenario.presets import Preset
from pdexplorer.texts.catalogue import LANGUAGES, Texts

_SESSION_KEY = "language"
_OF_THIS_RUN: ContextVar[str] = ContextVar("language of this run", default="")
"""A page asks for its language a hundred times a run, and the session answers slowly."""


def language() -> str:
    """The visitor's language; English before the page has looked."""
    known = _OF_THIS_RUN.get()
    chosen: str = known or st.session_state.get(_SESSION_KEY, LANGUAGES[0])
    return chosen


def choose_language() -> None:
    """For the start of each run: the address decides, else the browser."""
    asked = st.query_params.get("lang", "")
    locale = (st.context.locale or "").lower()
    browser = "zh" if locale.startswith("zh") else "en"
    chosen = asked if asked in LANGUAGES else browser
    st.session_state[_SESSION_KEY] = chosen
    _OF_THIS_RUN.set(chosen)


def texts() -> Texts:
    """All texts in the visitor's language."""
    return Texts(language())


def text(key: str, /, **values: object) -> str:
    """As Texts.text."""
    return texts().text(key, **values)


def choice_text(key: str, value: str) -> str:
    """As Texts.choice."""
    return texts().choice(key, value)


def described(key: str, english: str) -> str:
    """As Texts.described."""
    return texts().described(key, english)


def said(words: str) -> str:
    """As Texts.said."""
    return texts().said(words)


def preset_texts(preset: Preset) -> tuple[str, str]:
    """As Texts.preset."""
    return texts().preset(preset)


def plain(words: str) -> str:
    """The words with nothing in them taken for markup: values from links and errors are other people's
    text.
    """
    for mark in "\\`*_{}[]<>#+-!|~$:":
        words = words.replace(mark, "\\" + mark)
    return " ".join(words.split())
