"""Every design the search tried, with its score or the limit that rules it out."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.ui.texts import text


def candidates_tab(candidates: Iterable[Mapping[str, Any]]) -> None:
    """candidates: as `evaluate --json` lists them, nested tables flattened to columns."""
    st.caption(text("candidates.about"))
    st.dataframe(candidate_frame(candidates), hide_index=True, width="stretch", height=420)


def candidate_frame(candidates: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a design; columns that are empty throughout are left out."""
    frame = pd.json_normalize([dict(candidate) for candidate in candidates])
    frame.columns = [str(column).replace("_", " ").replace(".", ": ") for column in frame.columns]
    return frame.dropna(axis="columns", how="all")
