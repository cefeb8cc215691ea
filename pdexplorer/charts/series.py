"""What a replay's queues, batches, memory and link did over time: one small panel a quantity."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pdexplorer.charts.fleet_channels import fleet_channels

COLUMNS = ("time_s", "fleet", "panel", "value")
PANELS = ("waiting", "batch", "kv_fraction", "link_fraction")
"""Series of a replay that are drawn, in this order."""

_SHARES = ("kv_fraction", "link_fraction")
_MOST_POINTS = 250


def series_frame(
    series: Mapping[str, Mapping[str, NDArray[np.float64]]],
    fleet_texts: Mapping[str, str],
    panel_texts: Mapping[str, str],
) -> pd.DataFrame:
    """series: per fleet `time_s` and the panels' series, all (n,). Shares come out in percent; long series
    are thinned to a few hundred points; a series the fleet does not have is left out.
    """
    frames = [pd.DataFrame(columns=list(COLUMNS))]
    for fleet, by_name in series.items():
        time_s = np.asarray(by_name["time_s"], float)
        kept = np.unique(np.linspace(0, max(time_s.size - 1, 0), _MOST_POINTS).astype(int))
        for panel in PANELS:
            values = np.asarray(by_name.get(panel, ()), float)
            if values.size == 0 or (panel == "link_fraction" and fleet == "colocated"):
                continue
            scale = 100.0 if panel in _SHARES else 1.0
            frames.append(
                pd.DataFrame(
                    {
                        "time_s": time_s[kept],
                        "fleet": fleet_texts[fleet],
                        "panel": panel_texts[panel],
                        "value": values[kept] * scale,
                    }
                )
            )
    frames = [frame for frame in frames if not frame.empty] or frames[:1]
    return pd.concat(frames, ignore_index=True)


def time_series(
    frame: pd.DataFrame, *, fleet_texts: Mapping[str, str], panel: str, time_title: str, height: int = 210
) -> alt.Chart:
    """frame: see `series_frame`, of one panel. panel: its text."""
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_line(strokeWidth=1.6, interpolate="step-after")
        .encode(
            x=alt.X("time_s:Q", title=time_title),
            y=alt.Y("value:Q", title=panel, axis=alt.Axis(tickCount=4)),
            **fleet_channels(fleet_texts, dash=(5, 2)),
            tooltip=[
                alt.Tooltip("fleet:N", title=" "),
                alt.Tooltip("time_s:Q", title=time_title, format=",.4~r"),
                alt.Tooltip("value:Q", title=panel, format=",.3~r"),
            ],
        )
        .properties(height=height)
    )
    return chart
