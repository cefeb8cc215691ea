"""What the reader has to know before the answer: settings not used, what changed since a link was made."""

import streamlit as st

from pdexplorer.scenario.presets import Presets
from pdexplorer.ui.state import Asked
from pdexplorer.ui.texts import plain, preset_texts, said, text

_SHOWN = 8


def notices(asked: Asked, presets: Presets) -> None:
    """One box a matter, nothing where there is nothing to say."""
    if asked.refused:
        head = text("notice.refused" if asked.from_link else "notice.refused_edit")
        lines = [refusal.text for refusal in asked.refused]
        if any(refusal.key == "preset" for refusal in asked.refused):
            lines.append(text("notice.instead", title=preset_texts(asked.preset)[0]))
        _box(head, lines, ":material/rule:")
    if asked.changed:
        _box("", list(asked.changed), ":material/history:")
    if presets.problems:
        _box(text("notice.presets"), list(presets.problems), ":material/folder_off:")


def _box(head: str, lines: list[str], icon: str) -> None:
    more = [f"… +{len(lines) - _SHOWN}"] if len(lines) > _SHOWN else []
    shown = [plain(said(line)) for line in lines[:_SHOWN]] + more
    if head and len(shown) == 1:
        words = f"{head} {shown[0]}"
    elif head:
        words = head + "\n" + "\n".join(f"- {line}" for line in shown)
    else:
        words = "  \n".join(shown)
    st.warning(words, icon=icon)
