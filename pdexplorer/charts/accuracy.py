"""Predicted over measured times, both logarithmic; on the line they are equal."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import pandas as pd

COLUMNS = ("row", "quantity", "measured", "predicted", "case")


def accuracy_frame(points: Iterable[tuple[str, float, float, str]]) -> pd.DataFrame:
    """points: quantity, measured and predicted in ms, and what was measured. Two rows `line` span their
    range.
    """
    kept = [point for point in points if point[1] > 0 and point[2] > 0]
    rows: list[dict[str, Any]] = [
        {"row": "point", "quantity": quantity, "measured": measured, "predicted": predicted, "case": case}
        for quantity, measured, predicted, case in kept
    ]
    values = [value for point in kept for value in point[1:3]]
    ends = (min(values), max(values)) if values else ()
    rows += [{"row": "line", "measured": end, "predicted": end} for end in ends]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def accuracy_scatter(frame: pd.DataFrame, *, x_title: str, y_title: str, height: int = 320) -> alt.LayerChart:
    """frame: see `accuracy_frame`."""
    x = alt.X("measured:Q", title=x_title, scale=alt.Scale(type="log", nice=False))
    y = alt.Y("predicted:Q", title=y_title, scale=alt.Scale(type="log", nice=False))
    points = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'point'")
        .mark_point(size=22, opacity=0.75)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "quantity:N",
                title=None,
                scale=alt.Scale(range=["#0072B2", "#D55E00", "#009E73", "#CC79A7"]),
                legend=alt.Legend(orient="top"),
            ),
            shape=alt.Shape("quantity:N", legend=None),
            tooltip=[
                alt.Tooltip("case:N", title=" "),
                alt.Tooltip("measured:Q", title=x_title, format=",.3~r"),
                alt.Tooltip("predicted:Q", title=y_title, format=",.3~r"),
            ],
        )
    )
    line = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'line'")
        .mark_line(color="#888888", strokeDash=[5, 3])
        .encode(x=x, y=y)
    )
    return alt.LayerChart(layer=[points, line]).properties(height=height)
