"""The tabs below the first screen: each works only while open, and the open one stands in the address."""

from collections.abc import Callable, Mapping

import streamlit as st

from pdexplorer.scenario.presets import Presets
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.language import set_in_address
from pdexplorer.ui.tabs.candidates import candidates_tab
from pdexplorer.ui.tabs.compare import compare_tab
from pdexplorer.ui.tabs.hybrid import hybrid_tab
from pdexplorer.ui.tabs.latency import latency_tab
from pdexplorer.ui.tabs.load import load_tab
from pdexplorer.ui.tabs.methodology import methodology_tab
from pdexplorer.ui.tabs.pairs import pairs_tab
from pdexplorer.ui.tabs.payback import payback_tab
from pdexplorer.ui.tabs.presets import presets_tab
from pdexplorer.ui.tabs.replayed import faults_tab, published_tab
from pdexplorer.ui.tabs.reuse import reuse_tab
from pdexplorer.ui.tabs.sensitivity import sensitivity_tab
from pdexplorer.ui.tabs.share import share_tab
from pdexplorer.ui.tabs.simulation import simulation_tab
from pdexplorer.ui.tabs.sizing import batch_tab, sizing_tab
from pdexplorer.ui.texts import language, text

_ASKED = "tabs.asked"

# The first is open on a bare visit, so it must cost nothing until it is asked something.
Tab = Callable[[Answered, Presets], None]

TABS: Mapping[str, Tab] = {
    "simulation": lambda answer, presets: simulation_tab(answer),
    "load": lambda answer, presets: load_tab(answer),
    "latency": lambda answer, presets: latency_tab(answer),
    "sensitivity": lambda answer, presets: sensitivity_tab(answer),
    "pairs": lambda answer, presets: pairs_tab(answer),
    "sizing": lambda answer, presets: sizing_tab(answer),
    "batch": lambda answer, presets: batch_tab(answer),
    "payback": lambda answer, presets: payback_tab(answer),
    "faults": lambda answer, presets: faults_tab(answer),
    "hybrid": lambda answer, presets: hybrid_tab(answer),
    "reuse": lambda answer, presets: reuse_tab(answer),
    "published": published_tab,
    "candidates": lambda answer, presets: candidates_tab(answer),
    "methodology": lambda answer, presets: methodology_tab(answer),
    "compare": compare_tab,
    "presets": presets_tab,
    "share": share_tab,
}


def tabs(answer: Answered, presets: Presets) -> None:
    """The row of tabs with the open one's content."""
    names = list(TABS)
    labels = [text(f"tab.{name}") for name in names]
    key = f"tabs.{language()}"
    asked = st.query_params.get("view", "")
    wanted = (language(), asked if asked in names else names[0])
    if st.session_state.get(_ASKED) != wanted:  # a first visit, Back, or the other language
        st.session_state[key] = labels[names.index(wanted[1])]
        st.session_state[_ASKED] = wanted
    for name, tab in zip(names, st.tabs(labels, key=key, on_change=_opened, args=(key,)), strict=True):
        if tab.open:
            with tab:
                TABS[name](answer, presets)


def _opened(key: str) -> None:
    label = st.session_state[key]
    for name in TABS:
        if text(f"tab.{name}") == label:
            st.session_state[_ASKED] = (language(), name)
            set_in_address("view", name)
