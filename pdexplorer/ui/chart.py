"""How every chart is drawn on the page: a template with its frame, words for those who cannot see it, and
clicks where its marks can be taken over.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.ui.pick import PICKED

_INK = "#54565e"
_LEGIBLE: Mapping[str, Any] = MappingProxyType(
    {part: {"labelColor": _INK, "titleColor": _INK} for part in ("axis", "legend")}
)
"""Streamlit's light theme writes axes in a grey of too little contrast for small words; its dark one not."""


def dark() -> bool:
    """Whether the reader's browser shows the page dark."""
    return st.context.theme.type == "dark"


def chart(
    frame: pd.DataFrame,
    template: Mapping[str, Any],
    alt: str,
    key: str,
    picks: bool = False,
    fills: bool = False,
) -> None:
    """template: see `to_template`. picks: its marks are `pickable` as PICKED. fills: as high as its place,
    which `style` gives a height by the screen's width, instead of as its template says.
    """
    spec = dict(template) if dark() else {**template, "config": dict(_LEGIBLE)}
    clicks: dict[str, Any] = {"on_select": "rerun", "selection_mode": [PICKED]} if picks else {}
    st.vega_lite_chart(frame, spec, alt=alt, key=key, height="stretch" if fills else "content", **clicks)
