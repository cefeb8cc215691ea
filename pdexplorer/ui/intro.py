"""What this page is, in three sentences, on a first visit; a click or any choice puts it away."""

import streamlit as st

from pdexplorer.ui.texts import text


def intro() -> bool:
    """Shown on a bare address until dismissed; whether it was shown."""
    session = st.session_state
    bare = not [key for key in st.query_params if key != "lang"]
    if session.get("intro.seen") or not bare or session.get("edited"):
        session["intro.seen"] = True
        return False
    with st.container(key="intro"):
        words, button = st.columns([8, 1], vertical_alignment="center")
        words.caption(" ".join(text(f"intro.{part}") for part in ("one", "two", "three")))
        button.button(text("intro.dismiss"), key="intro.dismiss", type="tertiary", on_click=_dismiss)
    return True


def _dismiss() -> None:
    st.session_state["intro.seen"] = True
