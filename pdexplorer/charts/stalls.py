"""Gaps between a request's tokens: which share is longer than a given time, so that stalls stand out."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pdexplorer.charts.fleet_channels import fleet_channels

COLUMNS = ("fleet", "gap_ms", "share")
_POINTS = 160


def stall_frame(
    histograms: Mapping[str, tuple[NDArray[np.float64], NDArray[np.int64]]], fleet_texts: Mapping[str, str]
) -> pd.DataFrame:
    """histograms: per fleet lower bin edges in seconds (n,), ascending, and gaps in each bin (n,).

    share: of all gaps, those at least as long.
    """
    frames = [pd.DataFrame(columns=list(COLUMNS))]
    for fleet, (edges_s, gaps) in histograms.items():
        total = int(gaps.sum())
        if total == 0:
            continue
        share = gaps[::-1].cumsum()[::-1] / total
        held = np.flatnonzero(gaps)
        if held.size > _POINTS:  # evenly over the orders of magnitude of the share, where stalls are
            picks = np.searchsorted(-np.log(share[held]), np.linspace(0, -np.log(share[held][-1]), _POINTS))
            held = np.unique(held[np.clip(picks, 0, held.size - 1)])
        frames.append(
            pd.DataFrame({"fleet": fleet_texts[fleet], "gap_ms": edges_s[held] * 1e3, "share": share[held]})
        )
    frames = [frame for frame in frames if not frame.empty] or frames[:1]
    return pd.concat(frames, ignore_index=True)


def stall_curve(
    frame: pd.DataFrame, *, fleet_texts: Mapping[str, str], x_title: str, y_title: str, height: int = 290
) -> alt.Chart:
    """frame: see `stall_frame`. Both axes logarithmic: a stall of one token in ten thousand is visible."""
    chart: alt.Chart = (
        alt.Chart(frame)
        .transform_filter("datum.gap_ms > 0 && datum.share > 0")
        .mark_line(strokeWidth=2.2, interpolate="step-before")
        .encode(
            x=alt.X("gap_ms:Q", title=x_title, scale=alt.Scale(type="log", nice=False)),
            y=alt.Y(
                "share:Q",
                title=y_title,
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(format="~%", tickCount=5),
            ),
            **fleet_channels(fleet_texts),
            tooltip=[
                alt.Tooltip("fleet:N", title=" "),
                alt.Tooltip("gap_ms:Q", title=x_title, format=",.3~r"),
                alt.Tooltip("share:Q", title=y_title, format=".3~%"),
            ],
        )
        .properties(height=height)
    )
    return chart
