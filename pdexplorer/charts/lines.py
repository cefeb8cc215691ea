"""Curves of both fleets over one quantity, with shaded ranges where splitting wins."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from pdexplorer.charts.fleet_channels import fleet_channels
from pdexplorer.charts.picking import pickable
from pdexplorer.charts.theme import FLEETS

COLUMNS = ("row", "fleet", "x", "y", "x2")


def line_frame(
    points: Iterable[tuple[str, float, float | None]],
    fleet_texts: Mapping[str, str],
    windows: Sequence[tuple[float, float]] = (),
) -> pd.DataFrame:
    """points: fleet's key, x, y; a point without y breaks its line. windows: ranges of x to shade."""
    rows: list[dict[str, Any]] = [
        {"row": "point", "fleet": fleet_texts[fleet], "x": x, "y": y} for fleet, x, y in points
    ]
    rows += [{"row": "window", "x": low, "x2": high} for low, high in windows]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"x": "float64", "y": "float64", "x2": "float64"})


def fleet_lines(
    frame: pd.DataFrame,
    *,
    fleet_texts: Mapping[str, str],
    x_title: str,
    y_title: str,
    y_format: str = "~s",
    log: bool = False,
    height: int = 270,
    picked: str = "",
) -> alt.LayerChart:
    """frame: see `line_frame`. log: both axes logarithmic. picked: see `pickable`; reports x and fleet."""
    kind: Any = "log" if log else "linear"
    x = alt.X("x:Q", title=x_title, scale=alt.Scale(type=kind, nice=False))
    shade = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'window'")
        .mark_rect(color=FLEETS["disaggregated"], opacity=0.14)
        .encode(x=x, x2="x2:Q")
    )
    base = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'point'")
        .encode(
            x=x,
            y=alt.Y("y:Q", title=y_title, scale=alt.Scale(type=kind), axis=alt.Axis(format=y_format)),
            **fleet_channels(fleet_texts),
            tooltip=[
                alt.Tooltip("fleet:N", title=" "),
                alt.Tooltip("x:Q", title=x_title, format=",.3~r"),
                alt.Tooltip("y:Q", title=y_title, format=",.3~r"),
            ],
        )
    )
    layers = [shade, base.mark_line(strokeWidth=2.2)]
    if picked:
        points = base.encode(strokeDash=alt.Undefined).mark_point(filled=True, aria=False)
        layers.append(pickable(points, picked, ("x", "fleet"), nearest=True))
    return alt.LayerChart(layer=layers).properties(height=height)
