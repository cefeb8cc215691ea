"""Which two kinds of accelerators make the cheapest pools."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.pairs import PairRow
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.fields import catalogue_names
from pdexplorer.ui.pick import Point
from pdexplorer.ui.tabs.studies import long_study, pick_table
from pdexplorer.ui.texts import text

_SHOWN = 60
_COLUMNS = (
    "prefill",
    "decode",
    "cost",
    "gpus",
    "prefill_tokens",
    "decode_tokens",
    "kv",
    "wins",
    "why_prefill",
    "why_decode",
)


def pairs_tab(answer: Answered) -> None:
    """The cheapest pairs as a table; a selected one can be taken."""
    st.caption(text("pairs.about"))
    found: tuple[PairRow, ...] | None = long_study("pairs", answer.scenario.model_dump_json())
    if found is None:
        return
    able = [row for row in found if not row.limit]
    shown = able[:_SHOWN]
    st.caption(text("pairs.shown", shown=len(shown), count=len(found), cannot=len(found) - len(able)))
    names = catalogue_names("accelerators", answer.catalog)
    labels = {column: text(f"pairs.{column}") for column in _COLUMNS}
    pick_table(
        "pairs.table",
        [pair_cells(row, names, labels) for row in shown],
        [_point(row, names, answer.scenario) for row in shown],
        answer.scenario,
        height=420,
    )


def _point(row: PairRow, names: Mapping[str, str], scenario: Scenario) -> Point:
    wanted = {"prefill.accelerator": row.prefill, "decode.accelerator": row.decode}
    if row.prefill_format != scenario.model.weight_format:
        wanted["prefill.weight_format"] = row.prefill_format
    prefill = _pool(names[row.prefill], row.prefill_gpus, row.prefill_format)
    decode = _pool(names[row.decode], row.decode_gpus, row.decode_format)
    return Point(text("pick.pair", prefill=prefill, decode=decode), wanted)


def pair_cells(row: PairRow, names: Mapping[str, str], labels: Mapping[str, str]) -> dict[str, Any]:
    """A pair as one row of the table; money stays empty where a price is missing."""
    cells = (
        _pool(names[row.prefill], row.prefill_gpus, row.prefill_format),
        _pool(names[row.decode], row.decode_gpus, row.decode_format),
        row.usd_per_million_requests,
        row.gpus_per_request_per_s,
        row.prefill_usd_per_million_tokens,
        row.decode_usd_per_million_tokens,
        row.kv_tokens,
        row.winning_usd_per_hour,
        row.prefill_reason,
        row.decode_reason,
    )
    return dict(zip(labels.values(), cells, strict=True))


def _pool(name: str, gpus: int | None, weights: str) -> str:
    return f"{gpus} × {name}, {weights}" if gpus else name
