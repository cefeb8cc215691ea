"""Where one request's time went in each fleet: waiting, prefill, KV transfer, decode."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from pdexplorer.charts.theme import PARTS

COLUMNS = ("fleet", "phase", "phase_text", "start_s", "end_s", "length_s")

PHASES: Mapping[str, str] = {
    "queue": PARTS["scheduling_idle"],
    "prefill": PARTS["prefill"],
    "kv_transfer": PARTS["kv_transfer"],
    "wait": "#9a9aa2",
    "decode": PARTS["decode"],
}
"""Phases in their order, in the colours of the cost's parts."""


def gantt_frame(
    times: Mapping[str, Mapping[str, float]], fleet_texts: Mapping[str, str], phase_texts: Mapping[str, str]
) -> pd.DataFrame:
    """times: per fleet a request's `arrival_s`, `prefill_start_s` … as a replay records them; NaN where one
    does not apply. Seconds come out since arrival; phases of no length are left out.
    """
    rows: list[dict[str, Any]] = []
    for fleet, at in times.items():
        begin = at["arrival_s"]
        moved = np.isfinite(at["transfer_end_s"])
        ready = at["transfer_end_s"] if moved else at["prefill_end_s"]
        spans = {
            "queue": (begin, at["prefill_start_s"]),
            "prefill": (at["prefill_start_s"], at["prefill_end_s"]),
            "kv_transfer": (max(at["transfer_start_s"], at["prefill_end_s"]), ready) if moved else (0.0, 0.0),
            "wait": (ready, max(ready, at["first_token_s"])),
            "decode": (max(ready, at["first_token_s"]), at["finish_s"]),
        }
        for phase, (start, end) in spans.items():
            if np.isfinite(start) and np.isfinite(end) and end > start:
                rows.append(
                    {
                        "fleet": fleet_texts[fleet],
                        "phase": phase,
                        "phase_text": phase_texts[phase],
                        "start_s": start - begin,
                        "end_s": end - begin,
                        "length_s": end - start,
                    }
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def request_gantt(
    frame: pd.DataFrame, *, phase_texts: Mapping[str, str], x_title: str, height: int = 110
) -> alt.Chart:
    """frame: see `gantt_frame`. Its key of colours stands outside, where it can wrap."""
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar(height={"band": 0.7})
        .encode(
            y=alt.Y(
                "fleet:N",
                title=None,
                sort=None,
                axis=alt.Axis(labelLimit=170, ticks=False, labelOverlap=False),
            ),
            x=alt.X("start_s:Q", title=x_title),
            x2="end_s:Q",
            color=alt.Color(
                "phase_text:N",
                title=None,
                sort=None,
                scale=alt.Scale(domain=[phase_texts[p] for p in PHASES], range=list(PHASES.values())),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("fleet:N", title=" "),
                alt.Tooltip("phase_text:N", title=" "),
                alt.Tooltip("length_s:Q", title="s", format=",.4~r"),
            ],
        )
        .properties(height=height)
    )
    return chart
