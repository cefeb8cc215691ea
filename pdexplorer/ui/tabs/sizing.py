"""P:D ratios around the best, what one more instance brings, and the same traffic as a batch job."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.study.offline import BatchPlan, BatchRow
from pdexplorer.study.sizing_table import SizingRow, SizingTable, SpareRow
from pdexplorer.texts.formats import number, percent, ratio_text
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.pick import Point
from pdexplorer.ui.tabs.studies import long_study, pick_table, table
from pdexplorer.ui.texts import said, text


def sizing_tab(answer: Answered) -> None:
    """The table of ratios, that of spares, and what to do with the GPUs one has."""
    found: SizingTable | None = long_study("sizing", answer.scenario.model_dump_json())
    if found is None:
        return
    st.caption(text("sizing.about", demand=number(found.demand_per_s)))
    pick_table(
        "sizing.table",
        [_ratio(row) for row in found.ratios],
        [_point(row) for row in found.ratios],
        answer.scenario,
    )
    st.markdown(f"**{text('sizing.spares')}**")
    table([_spare(row) for row in found.spares])
    gpus = answer.scenario.compare.gpus
    if not found.owned:
        st.caption(text("sizing.no_room", gpus=gpus))
        return
    st.markdown(f"**{text('sizing.owned', gpus=gpus)}**")
    owned = [_ratio(row) for row in found.owned]
    pick_table("sizing.owned", owned, [_point(row) for row in found.owned], answer.scenario)


def batch_tab(answer: Answered) -> None:
    """Rows an hour and cost of a batch job, by how it is batched."""
    st.caption(text("batch.about"))
    found: BatchPlan | None = long_study("batch", answer.scenario.model_dump_json())
    if found is None:
        return
    if found.ratio is not None:
        st.markdown(text("batch.ratio", ratio=ratio_text(found.ratio)))
    table([_batch(row) for row in found.rows])


def instance_settings(row: SizingRow) -> dict[str, str]:
    """The settings that fix a fleet of that size."""
    if row.fleet == "disaggregated":
        return {"prefill.instances": str(row.prefill), "decode.instances": str(row.decode)}
    return {"colocated.instances": str(row.colocated)}


def _point(row: SizingRow) -> Point:
    words = text("pick.size", fleet=text(f"fleet.{row.fleet}"), instances=_instances(row), gpus=row.gpus)
    return Point(words, instance_settings(row))


def _instances(row: SizingRow) -> str:
    return f"{row.prefill}P + {row.decode}D" if row.fleet == "disaggregated" else str(row.colocated)


def _ratio(row: SizingRow) -> Mapping[str, Any]:
    return {
        text("sizing.fleet"): text(f"fleet.{row.fleet}"),
        text("column.instances"): _instances(row),
        text("column.gpus"): row.gpus,
        text("column.cost"): row.usd_per_hour,
        text("sizing.carries"): row.capacity_per_s,
        text("sizing.attainment"): percent(row.attainment_fraction),
        text("sizing.meets"): row.meets,
        text("column.chosen"): row.chosen,
    }


def _spare(row: SpareRow) -> Mapping[str, Any]:
    pool = text("fleet.colocated") if row.pool == "colocated" else text(f"part.{row.pool}")
    return {
        text("sizing.pool"): pool,
        text("sizing.now"): row.instances,
        text("sizing.alone"): row.alone,
        text("column.gpus"): f"+{row.added_gpus}",
        text("sizing.added"): row.added_usd_per_hour,
        text("sizing.gain"): percent(row.capacity_gain_fraction),
    }


def _batch(row: BatchRow) -> Mapping[str, Any]:
    return {
        text("sizing.fleet"): text(f"fleet.{row.fleet}"),
        text("batch.change"): said(row.change),
        text("batch.rows"): row.rows_per_hour,
        text("column.gpus"): row.gpus,
        text("batch.tokens"): row.usd_per_million_tokens,
        text("batch.job"): row.usd_per_job,
        text("batch.hours"): row.completion_h,
        text("batch.gain"): row.gain_ratio,
    }
