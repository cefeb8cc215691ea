"""Every text a person reads on the page, by id: `text("verdict.disaggregate")`, in the visitor's language."""

from functools import cache
from types import MappingProxyType

import streamlit as st

from pdexplorer.scenario.presets import Preset
from pdexplorer.ui.chinese import CHINESE
from pdexplorer.ui.chinese_fields import CHOICES as CHINESE_CHOICES
from pdexplorer.ui.chinese_fields import FIELDS as CHINESE_FIELDS
from pdexplorer.ui.chinese_fields import HELP as CHINESE_HELP
from pdexplorer.ui.chinese_presets import PRESETS
from pdexplorer.ui.chinese_sentences import in_chinese
from pdexplorer.ui.chinese_studies import CHINESE_STUDIES
from pdexplorer.ui.chinese_tabs import CHINESE_TABS
from pdexplorer.ui.english import ENGLISH
from pdexplorer.ui.english_fields import CHOICES, FIELDS
from pdexplorer.ui.english_studies import ENGLISH_STUDIES
from pdexplorer.ui.english_tabs import ENGLISH_TABS

LANGUAGES = ("en", "zh")
_SESSION_KEY = "language"


def language() -> str:
    """The visitor's language; English before the page has looked."""
    chosen: str = st.session_state.get(_SESSION_KEY, LANGUAGES[0])
    return chosen


def choose_language() -> None:
    """For the start of each run: the address decides, else the browser."""
    asked = st.query_params.get("lang", "")
    locale = (st.context.locale or "").lower()
    browser = "zh" if locale.startswith("zh") else "en"
    st.session_state[_SESSION_KEY] = asked if asked in LANGUAGES else browser


@cache
def catalogue(language: str) -> MappingProxyType[str, str]:
    """All texts of a language by id."""
    blocks = {
        "en": (ENGLISH, {**ENGLISH_TABS, **ENGLISH_STUDIES}, FIELDS, CHOICES, {}),
        "zh": (CHINESE, {**CHINESE_TABS, **CHINESE_STUDIES}, CHINESE_FIELDS, CHINESE_CHOICES, CHINESE_HELP),
    }[language]
    first, tabs, fields, choices, helps = blocks
    return MappingProxyType(
        {
            **first,
            **tabs,
            **{f"field.{key}": value for key, value in fields.items()},
            **{f"choice.{key}": value for key, value in choices.items()},
            **{f"help.{key}": value for key, value in helps.items()},
        }
    )


def text(key: str, /, **values: object) -> str:
    """The text of that id with its values filled in; KeyError for an id nobody wrote."""
    words = catalogue(language())[key]
    return words.format(**values) if values or "{" in words else words


def choice_text(key: str, value: str) -> str:
    """How a choice of a field reads: its own text where there is one, else the value as links write it."""
    texts = catalogue(language())
    return texts.get(f"choice.{key}.{value}", texts.get(f"choice.{value}", value))


def described(key: str, english: str) -> str:
    """A field's explanation: english is what the scenario itself says of it."""
    return catalogue(language()).get(f"help.{key}", english)


def said(words: str) -> str:
    """A sentence of the model or of a reader, in the visitor's language where it is known there."""
    return in_chinese(words) if language() == "zh" else words


def preset_texts(preset: Preset) -> tuple[str, str]:
    """A preset's title and why it is there; a team's own as its file says."""
    own = PRESETS.get(preset.name) if language() == "zh" else None
    return own or (preset.title, preset.why)


def plain(words: str) -> str:
    """The words with nothing in them taken for markup: values from links and errors are other people's
    text.
    """
    for mark in "\\`*_{}[]<>#+-!|~$:":
        words = words.replace(mark, "\\" + mark)
    return " ".join(words.split())
