"""The gallery of presets with one-line verdicts, and the page's state as one more."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pdexplorer.scenario.presets import Presets
from pdexplorer.texts.formats import ratio_text
from pdexplorer.texts.verdict_words import title
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.pick import Point
from pdexplorer.ui.preset_file import preset_toml, save_preset, team_folder
from pdexplorer.ui.tabs.studies import long_study, pick_table
from pdexplorer.ui.texts import plain, preset_texts, said, text, texts
from pdexplorer.ui.work.study import Judged


def presets_tab(answer: Answered, presets: Presets) -> None:
    """Gallery, then saving."""
    st.caption(text("presets.about"))
    everything = "[" + ",".join(preset.scenario.model_dump_json() for preset in presets.values()) + "]"
    found: tuple[Judged, ...] | None = long_study("gallery", everything)
    if found is not None:
        points = [Point(preset_texts(preset)[0], name) for name, preset in presets.items()]
        pick_table("presets.gallery", gallery_rows(presets, found), points, answer.scenario, "presets.open")
    _save(answer)


def gallery_rows(presets: Presets, found: Sequence[Judged]) -> list[Mapping[str, Any]]:
    """One row a preset, in their order: title, verdict, the ratio that decided."""
    columns = [text(f"presets.column_{name}") for name in ("title", "verdict", "ratio")]
    return [
        dict(zip(columns, (preset_texts(preset)[0], _verdict(judged), _ratio(judged)), strict=True))
        for preset, judged in zip(presets.values(), found, strict=True)
    ]


def _verdict(judged: Judged) -> str:
    return said(judged.problem) if judged.answer is None else title(texts(), judged.answer)


def _ratio(judged: Judged) -> str:
    return "–" if judged.ratio is None else ratio_text(judged.ratio)


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
