"""How a latency spreads over requests: the share of requests at or below each value, for both fleets."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pdexplorer.charts.theme import FLEETS

COLUMNS = ("row", "fleet", "latency_ms", "share")
POINTS = 200


def latency_frame(
    latencies_s: Mapping[str, NDArray[np.float64]], fleet_texts: Mapping[str, str], limit_s: float | None
) -> pd.DataFrame:
    """latencies_s: per fleet one value a completed request (any length; NaN left out), in seconds.

    Rows `curve` are the empirical distribution at `POINTS` shares, rows `limit` the SLO's limit, in ms.
    """
    frames = [pd.DataFrame(columns=list(COLUMNS))]
    shares = np.concatenate(
        [np.linspace(0.0, 0.9, POINTS // 2, endpoint=False), np.linspace(0.9, 1.0, POINTS // 2)]
    )
    for fleet, values in latencies_s.items():
        kept = values[np.isfinite(values)]
        if kept.size:
            frames.append(
                pd.DataFrame(
                    {
                        "row": "curve",
                        "fleet": fleet_texts[fleet],
                        "latency_ms": np.quantile(kept, shares) * 1e3,
                        "share": shares,
                    }
                )
            )
    if limit_s is not None:
        frames.append(pd.DataFrame({"row": ["limit"], "latency_ms": [limit_s * 1e3]}))
    frames = [frame for frame in frames if not frame.empty] or frames[:1]
    return pd.concat(frames, ignore_index=True).reindex(columns=list(COLUMNS))


def latency_distribution(
    frame: pd.DataFrame,
    *,
    fleet_texts: Mapping[str, str],
    x_title: str,
    y_title: str,
    limit_text: str,
    height: int = 290,
) -> alt.LayerChart:
    """frame: see `latency_frame`. Fleets differ in dash and colour; the limit is a labelled rule."""
    x: Any = alt.X(
        "latency_ms:Q", title=x_title, scale=alt.Scale(type="log", nice=False), axis=alt.Axis(tickCount=6)
    )
    domain = [fleet_texts[fleet] for fleet in FLEETS]
    curves = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'curve' && datum.latency_ms > 0")
        .mark_line(strokeWidth=2.5, interpolate="step-after")
        .encode(
            x=x,
            y=alt.Y("share:Q", title=y_title, axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "fleet:N",
                title=None,
                scale=alt.Scale(domain=domain, range=list(FLEETS.values())),
                legend=alt.Legend(orient="top"),
            ),
            strokeDash=alt.StrokeDash(
                "fleet:N", title=None, scale=alt.Scale(domain=domain, range=[[1, 0], [6, 3]]), legend=None
            ),
            tooltip=[
                alt.Tooltip("fleet:N", title="fleet"),
                alt.Tooltip("latency_ms:Q", title=x_title, format=",.3~r"),
                alt.Tooltip("share:Q", title=y_title, format=".1%"),
            ],
        )
    )
    limit = alt.Chart(frame).transform_filter("datum.row == 'limit'").encode(x=x)
    return alt.LayerChart(
        layer=[
            curves,
            limit.mark_rule(color="#888888", strokeWidth=2, strokeDash=[2, 2]),
            # A grey that can be read on a light page and on a dark one.
            limit.mark_text(align="right", dx=-5, y="height", dy=-9, fontSize=12, color="#7b7b7b").encode(
                text=alt.value(limit_text)
            ),
        ]
    ).properties(height=height)
