"""Where time goes: stacked bars in parts that add up, one bar a fleet and percentile."""

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt
import pandas as pd

from pdexplorer.charts.picking import pickable

COLUMNS = ("bar", "part", "order", "start", "end", "value")

COLORS: Mapping[str, str] = {
    "router": "#999999",
    "queue": "#CC79A7",
    "prefill": "#0072B2",
    "handshake": "#D55E00",
    "exposed_transfer": "#E69F00",
    "first_decode": "#009E73",
    "weights": "#0072B2",
    "kv": "#56B4E9",
    "interference": "#D55E00",
    "overhead": "#999999",
}
"""Okabe and Ito's colours; a part of a request's cost has the colour it has there."""


def time_frame(
    bars: Iterable[tuple[str, Mapping[str, float]]], part_texts: Mapping[str, str]
) -> pd.DataFrame:
    """bars: name and parts in seconds, in the order of part_texts; milliseconds come out."""
    rows: list[dict[str, Any]] = []
    for bar, parts in bars:
        start = 0.0
        for order, part in enumerate(part_texts):
            value = parts.get(part, 0.0) * 1e3
            rows.append(
                {
                    "bar": bar,
                    "part": part_texts[part],
                    "order": order,
                    "start": start,
                    "end": start + value,
                    "value": value,
                }
            )
            start += value
    return pd.DataFrame(rows, columns=list(COLUMNS))


def time_bars(
    frame: pd.DataFrame,
    *,
    part_texts: Mapping[str, str],
    x_title: str,
    height: int = 180,
    picked: str = "",
) -> alt.Chart:
    """frame: see `time_frame`. picked: see `pickable`; reports the bar. Its key of colours stands outside,
    where it can wrap.
    """
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar(height={"band": 0.72})
        .encode(
            y=alt.Y(
                "bar:N", title=None, sort=None, axis=alt.Axis(labelLimit=190, ticks=False, labelOverlap=False)
            ),
            x=alt.X("start:Q", title=x_title, axis=alt.Axis(tickCount=8)),
            x2="end:Q",
            color=alt.Color(
                "part:N",
                title=None,
                sort=None,
                scale=alt.Scale(domain=list(part_texts.values()), range=[COLORS[p] for p in part_texts]),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("bar:N", title=" "),
                alt.Tooltip("part:N", title=" "),
                alt.Tooltip("value:Q", title="ms", format=",.3~r"),
            ],
        )
        .properties(height=height)
    )
    return pickable(chart, picked, ("bar",)) if picked else chart
