"""The gallery of presets with one-line verdicts, and the page's state as one more."""

from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.scenario.presets import Preset, Presets
from pdexplorer.texts.verdict_words import title
from pdexplorer.ui.answer import Answered, answered
from pdexplorer.ui.edits import queue_preset
from pdexplorer.ui.preset_file import preset_toml, save_preset, team_folder
from pdexplorer.ui.state import Asked
from pdexplorer.ui.texts import plain, preset_texts, said, text, texts

_OPEN = "presets.open"


def presets_tab(answer: Answered, presets: Presets) -> None:
    """Gallery, then saving."""
    st.caption(text("presets.about"))
    frame = gallery_frame(presets)
    event: Any = st.dataframe(
        frame,
        hide_index=True,
        width="stretch",
        height="content",
        on_select="rerun",
        selection_mode="single-row",
        key="presets.gallery",
        column_config={text("presets.column_ratio"): st.column_config.NumberColumn(format="%.2f")},
    )
    rows = event.selection.rows
    if rows and rows[0] < len(presets):
        name = list(presets)[rows[0]]
        called = preset_texts(presets[name])[0]
        st.button(text(_OPEN, title=called), key=_OPEN, on_click=queue_preset, args=(_OPEN, name))
    _save(answer)


def gallery_frame(presets: Presets) -> pd.DataFrame:
    """One row a preset, in their order: title, verdict, the ratio that decided."""
    rows = []
    for preset in presets.values():
        words, ratio = _judged(preset)
        rows.append((preset_texts(preset)[0], words, ratio))
    columns = [text(f"presets.column_{name}") for name in ("title", "verdict", "ratio")]
    return pd.DataFrame(rows, columns=columns).astype({columns[2]: "float64"})


def _judged(preset: Preset) -> tuple[str, float | None]:
    try:
        answer = answered(Asked(preset, preset.scenario))
    except ValueError as error:
        return said(str(error)), None
    return title(texts(), answer.json), answer.evaluation.verdict.ratio


def _save(answer: Answered) -> None:
    st.markdown(f"**{text('presets.save')}**")
    left, right = st.columns(2)
    name = left.text_input(text("presets.name"), key="save.name", max_chars=64)
    called = right.text_input(text("presets.title"), key="save.title", max_chars=120)
    why = st.text_input(text("presets.why"), key="save.why", max_chars=400)
    content = preset_toml(answer.scenario, called or preset_texts(answer.preset)[0], why or answer.preset.why)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            text("presets.download"),
            content,
            file_name=f"{name or answer.preset.name}.toml",
            mime="application/toml",
            key="save.download",
            on_click="ignore",
            icon=":material/download:",
        )
        folder = team_folder()
        if folder is None:
            st.caption(text("presets.folder_hint"))
            return
        replace = st.toggle(text("presets.replace"), key="save.replace")
        pressed = st.button(text("presets.to_folder"), key="save.folder", icon=":material/save:")
    if pressed:
        try:
            path = save_preset(folder, name, content, replace)
        except ValueError as error:
            st.error(plain(said(str(error))), icon=":material/error:")
        else:
            st.success(text("presets.saved", name=plain(path.name)), icon=":material/check:")
