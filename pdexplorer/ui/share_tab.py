"""The link to what the page shows, for people and for a shell."""

import streamlit as st

from pdexplorer.scenario.link import to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.texts import text


def share_tab(answer: Answered, presets: Presets) -> None:
    """The link, and the same question asked in a shell."""
    st.caption(text("share.full"))
    link = to_link(answer.scenario, answer.preset)
    st.code((st.context.url or "").partition("?")[0] + link, language=None, wrap_lines=True)
    st.code(f'pdexplorer evaluate "{link}"', language="bash", wrap_lines=True)
