"""What the reader has to know before the answer: settings not used, what changed since a link was made."""

from collections.abc import Sequence

import streamlit as st

from pdexplorer.scenario.link import unknown_choice
from pdexplorer.scenario.presets import Presets
from pdexplorer.scenario.settings import Refusal
from pdexplorer.texts.catalogue import LANGUAGES
from pdexplorer.ui.state import Asked
from pdexplorer.ui.tabs.compare import PIN
from pdexplorer.ui.texts import plain, preset_texts, said, text

_SHOWN = 8


def notices(asked: Asked, presets: Presets, views: Sequence[str]) -> None:
    """One box a matter, nothing where there is nothing to say. views: what an address can ask to see."""
    refused = (*asked.refused, *(_reserved(views) if asked.from_link else ()))
    if refused:
        head = text("notice.refused" if asked.from_link else "notice.refused_edit")
        lines = [refusal.text for refusal in refused]
        if any(refusal.key == "preset" for refusal in refused):
            lines.append(text("notice.instead", title=preset_texts(asked.preset)[0]))
        _box(head, lines, ":material/rule:")
    if asked.changed:
        _box("", list(asked.changed), ":material/history:")
    if presets.problems:
        _box(text("notice.presets"), list(presets.problems), ":material/folder_off:")


def _reserved(views: Sequence[str]) -> tuple[Refusal, ...]:
    """Keys of the address that are no settings, with values there are not."""
    query = st.query_params
    pinned = query.get(PIN, "=")
    return (
        *unknown_choice("view", query.get("view"), views),
        *unknown_choice("lang", query.get("lang"), LANGUAGES),
        *(() if "=" in pinned else (Refusal(PIN, pinned, "allowed is the query of a link"),)),
    )


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
