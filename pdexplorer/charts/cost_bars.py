"""What one request costs on each fleet, in its four parts, as two stacked bars on one axis."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from pdexplorer.charts.theme import PARTS

REQUESTS_PER_BAR = 1000
"""Costs are drawn per thousand requests: one request costs fractions of a cent."""

COLUMNS = ("row", "fleet", "part", "order", "cost", "share", "start", "end", "label", "part_text")
_LABEL_FROM_SHARE = 0.08


def cost_frame(
    costs: Mapping[str, Mapping[str, float]],
    fleet_texts: Mapping[str, str],
    part_texts: Mapping[str, str],
    currency_per_usd: float = 1.0,
) -> pd.DataFrame:
    """One row a part and one `total` row a fleet.

    costs: per fleet, `cost_per_request_usd` with the four parts and the total, in USD a request.
    cost, start and end come out per thousand requests in the display currency; start and end are where a
    segment lies on the axis; share is of the longest bar, so that labels are left out where they do not fit.
    """
    scale = REQUESTS_PER_BAR * currency_per_usd
    longest = max((cost["total"] for cost in costs.values()), default=0.0) * scale
    rows: list[dict[str, Any]] = []
    for fleet, cost in costs.items():
        start = 0.0
        for order, part in enumerate(PARTS):
            value = cost[part] * scale
            share = value / longest if longest > 0 else 0.0
            rows.append(
                {
                    "row": "part",
                    "fleet": fleet_texts[fleet],
                    "part": part,
                    "part_text": part_texts[part],
                    "order": order,
                    "cost": value,
                    "share": value / (cost["total"] * scale) if cost["total"] > 0 else 0.0,
                    "start": start,
                    "end": start + value,
                    "label": money_text(value) if share >= _LABEL_FROM_SHARE else "",
                }
            )
            start += value
        rows.append(
            {
                "row": "total",
                "fleet": fleet_texts[fleet],
                "part": "total",
                "part_text": "",
                "order": len(PARTS),
                "cost": cost["total"] * scale,
                "share": 1.0,
                "start": start,
                "end": start,
                "label": money_text(cost["total"] * scale),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def cost_bars(
    frame: pd.DataFrame,
    *,
    part_texts: Mapping[str, str],
    axis_title: str,
    ink: str = "#1b1b1f",
    height: int = 96,
    legend: bool = True,
    tooltip_titles: tuple[str, str, str] = ("fleet", "part", "share of this fleet"),
) -> alt.LayerChart:
    """frame: see `cost_frame`. axis_title goes into tooltips: the axis itself has none, its heading says the
    unit.

    ink is the colour of the totals, which stand on the page's ground. legend: left out where the page draws
    its own.
    """
    parts = alt.Chart(frame).transform_filter("datum.row == 'part'")
    fleet = alt.Y("fleet:N", sort=None, title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False))
    bars = parts.mark_bar(height={"band": 0.78}).encode(
        y=fleet,
        x=alt.X("start:Q", title=None, axis=alt.Axis(tickCount=6), scale=alt.Scale(nice=False)),
        x2="end:Q",
        color=alt.Color(
            "part_text:N",
            sort=None,
            title=None,
            scale=alt.Scale(domain=[part_texts[p] for p in PARTS], range=list(PARTS.values())),
            legend=alt.Legend(orient="top", symbolType="square", labelLimit=240, offset=4)
            if legend
            else None,
        ),
        tooltip=[
            alt.Tooltip("fleet:N", title=tooltip_titles[0]),
            alt.Tooltip("part_text:N", title=tooltip_titles[1]),
            alt.Tooltip("cost:Q", title=axis_title, format=",.4~g"),
            alt.Tooltip("share:Q", title=tooltip_titles[2], format=".1%"),
        ],
    )
    # White on the four Okabe-Ito hues is too pale on orange; near-black reads on all but the blue.
    inside = (
        parts.transform_calculate(middle="(datum.start + datum.end) / 2")
        .mark_text(fontSize=12, fontWeight=600)
        .encode(
            y=fleet,
            x=alt.X("middle:Q", title=None),
            text="label:N",
            color=alt.condition("datum.part == 'prefill'", alt.value("#ffffff"), alt.value("#1b1b1f")),
        )
    )
    totals = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'total'")
        .mark_text(align="left", dx=6, fontSize=13, fontWeight=700, color=ink)
        .encode(y=fleet, x=alt.X("end:Q", title=None), text="label:N")
    )
    # An unseen mark beyond the longest bar keeps its total from being cut.
    room = (
        alt.Chart(frame)
        .transform_filter("datum.row == 'total'")
        .transform_calculate(edge="datum.end * 1.24")
        .mark_point(opacity=0)
        .encode(y=fleet, x=alt.X("edge:Q", title=None))
    )
    return alt.LayerChart(layer=[bars, inside, totals, room]).properties(height=height)


def money_text(value: float) -> str:
    """Three significant digits, thousands separated: 0.0421, 4.21, 1,240."""
    if value == 0:
        return "0"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if value < 100 else f"{value:.0f}"
