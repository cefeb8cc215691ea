"""Every design the search tried, with its score or the limit that rules it out."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.ui.answer import Answered
from pdexplorer.ui.texts import said, text

_COLUMNS = ("fleet", "design", "chosen", "score", "score_unit", "instances", "gpus", "cost", "limit")


def candidates_tab(answer: Answered) -> None:
    """A table of all of them."""
    st.caption(text("candidates.about"))
    st.dataframe(
        candidate_frame(answer.json["candidates"]),
        hide_index=True,
        width="stretch",
        height=420,
        column_config={
            text("column.score"): st.column_config.NumberColumn(format="%.4g"),
            text("column.cost"): st.column_config.NumberColumn(format="%.4g"),
        },
    )


def candidate_frame(candidates: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """candidates: as `evaluate --json` lists them. One row a design, each fleet's chosen one first, then by
    score; those ruled out last.
    """
    rows = []
    for candidate in candidates:
        limit = candidate["limit"]
        rows.append(
            {
                "fleet": text(f"fleet.{candidate['fleet']}"),
                "design": _pairs(candidate["design"]),
                "chosen": bool(candidate["chosen"]),
                "score": candidate["score"],
                "score_unit": candidate["score_unit"],
                "instances": _instances(candidate["instances"]),
                "gpus": candidate["gpus"],
                "cost": candidate["cost_usd_per_hour"],
                "limit": "" if limit is None else said(limit["text"]),
            }
        )
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    numbers = {"score": "float64", "gpus": "Int64", "cost": "float64"}
    frame = frame.astype(numbers).sort_values(["fleet", "chosen", "score"], ascending=[True, False, False])
    return frame.rename(columns={name: text(f"column.{name}") for name in _COLUMNS})


def _pairs(design: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in design.items())


def _instances(instances: Any) -> str:
    if isinstance(instances, Mapping):
        return f"{instances['prefill']}P + {instances['decode']}D"
    return "" if instances is None else str(instances)
