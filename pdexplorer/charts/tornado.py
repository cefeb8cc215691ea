"""How far each input moves the gain: one bar from lower to higher around where the scenario stands."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import pandas as pd

from pdexplorer.charts.picking import pickable

COLUMNS = ("row", "input", "side", "tried", "start", "end")
_LOW, _HIGH = "#56B4E9", "#D55E00"


def tornado_frame(
    rows: Iterable[tuple[str, str, float | None, str, float | None]], gain: float, low: str, high: str
) -> pd.DataFrame:
    """rows: input, then value tried (as text) and gain there, lower and higher; None draws no bar. One row
    `even` carries the break-even line at 1.
    """
    marks: list[dict[str, Any]] = []
    for name, low_tried, low_gain, high_tried, high_gain in rows:
        for side, tried, end in ((low, low_tried, low_gain), (high, high_tried, high_gain)):
            if end is not None:
                marks.append(
                    {"row": "bar", "input": name, "side": side, "tried": tried, "start": gain, "end": end}
                )
    marks.append({"row": "even", "start": 1.0})
    return pd.DataFrame(marks, columns=list(COLUMNS)).astype({"start": "float64", "end": "float64"})


def tornado(
    frame: pd.DataFrame,
    *,
    x_title: str,
    tried_title: str,
    low: str,
    high: str,
    height: int = 400,
    picked: str = "",
) -> alt.LayerChart:
    """frame: see `tornado_frame`. picked: see `pickable`; reports input and side."""
    x = alt.X("start:Q", title=x_title, scale=alt.Scale(zero=False))
    bars = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'bar'")
        .mark_bar(height={"band": 0.7})
        .encode(
            y=alt.Y(
                "input:N",
                title=None,
                sort=None,
                axis=alt.Axis(labelLimit=230, ticks=False, labelOverlap=False),
            ),
            x=x,
            x2="end:Q",
            color=alt.Color(
                "side:N",
                title=None,
                scale=alt.Scale(domain=[low, high], range=[_LOW, _HIGH]),
                legend=alt.Legend(orient="top", symbolType="square"),
            ),
            tooltip=[
                alt.Tooltip("input:N", title=" "),
                alt.Tooltip("tried:N", title=tried_title),
                alt.Tooltip("end:Q", title=x_title, format=".3~r"),
            ],
        )
    )
    if picked:
        bars = pickable(bars, picked, ("input", "side"))
    even = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'even'")
        .mark_rule(color="#888888", strokeDash=[5, 3], strokeWidth=2)
        .encode(x=x)
    )
    return alt.LayerChart(layer=[bars, even]).properties(height=height)
