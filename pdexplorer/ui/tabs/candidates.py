"""Every design the search tried, with its score or the limit that rules it out."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.scenario.keys import keys
from pdexplorer.texts.formats import number
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.fields import catalogue_names
from pdexplorer.ui.pick import Point
from pdexplorer.ui.tabs.studies import pick_table
from pdexplorer.ui.texts import said, text

_TABLE = "candidates.table"
_POOLS = ("prefill", "decode")
_WIDTHS = {"tp": "TP", "pp": "PP", "ep": "EP", "attention_dp": "DP"}
_COLUMNS = ("fleet", "design", "chosen", "score", "score_unit", "instances", "gpus", "cost", "limit")


def candidates_tab(answer: Answered) -> None:
    """A table of all of them."""
    st.caption(f"{text('candidates.about')} {text('candidates.pick')}")
    listed = answer.json["candidates"]
    if not listed:
        return
    names = catalogue_names("accelerators", answer.catalog)
    frame = candidate_frame(listed, names)
    unit = next((one["score_unit"] for one in listed if one["score_unit"]), "")
    score = f"{text('column.score')} ({unit.replace('requests/s', 'req/s').replace('$', 'USD')})"
    shown = frame.drop(columns=text("column.score_unit")).rename(columns={text("column.score"): score})
    points = []
    for at in frame.index:
        fleet, design = listed[int(at)]["fleet"], listed[int(at)]["design"]
        words = f"{text(f'fleet.{fleet}')}: {design_text(design, names)}"
        points.append(Point(words, design_settings(fleet, design)))
    pick_table(
        _TABLE,
        shown.to_dict("records"),
        points,
        answer.scenario,
        height=420,
        widths={text("column.limit"): 320},
    )


def design_settings(fleet: str, design: Mapping[str, Any]) -> dict[str, str]:
    """The settings that fix a design: what the search was free to choose."""
    found: dict[str, str] = {}
    for name, value in design.items():
        if fleet == "colocated":
            key = f"colocated.{name}"
        elif name in ("prefill", "decode"):
            key = f"{name}.accelerator"
        else:
            pool, _, field = name.partition("_")
            key = f"{pool}.{field}"
        if key in keys() and value is not None:
            found[key] = str(value)
    return found


def candidate_frame(
    candidates: Iterable[Mapping[str, Any]], names: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """candidates: as `evaluate --json` lists them. One row a design, each fleet's chosen one first, then by
    score; those ruled out last. names: what accelerators are called, by id.
    """
    rows = []
    for candidate in candidates:
        limit = candidate["limit"]
        rows.append(
            {
                "fleet": text(f"fleet.{candidate['fleet']}"),
                "design": design_text(candidate["design"], names or {}),
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


def design_text(design: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """What tells designs apart: each pool's accelerator and parallelism, widths of one left out."""
    parts: list[str] = []
    for name, value in design.items():
        pool, _, rest = name.partition("_")
        field = rest if pool in _POOLS and rest else name
        if field in _POOLS:
            parts.append(f"{text(f'part.{field}')} {names.get(value, value)}")
        elif field == "accelerator":
            parts.append(str(names.get(value, value)))
        elif field == "chunk_tokens":
            parts.append(text("design.chunks", tokens=number(value)))
        elif field == "tp" or value != 1:
            parts[-1] += f" {_WIDTHS[field]}{value}"
    return ", ".join(parts)


def _instances(instances: Any) -> str:
    if isinstance(instances, Mapping):
        return f"{instances['prefill']}P + {instances['decode']}D"
    return "" if instances is None else str(instances)
