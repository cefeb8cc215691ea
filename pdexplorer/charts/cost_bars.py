"""What one request costs on each fleet, in its four parts, as two stacked bars on one axis."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pdexplorer.charts.theme import PARTS
from pdexplorer.charts.vega_lite import layer, number, only, words

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
    *,
    part_texts: Mapping[str, str],
    axis_title: str,
    ink: str = "#1b1b1f",
    height: int = 96,
    legend: bool = True,
    tooltip_titles: tuple[str, str, str] = ("fleet", "part", "share of this fleet"),
) -> dict[str, Any]:
    """Vega-Lite for the frames of `cost_frame`. axis_title goes into tooltips: the axis itself has none, its
    heading says the unit.

    ink is the colour of the totals, which stand on the page's ground. legend: left out where the page draws
    its own.
    """
    fleet = {
        "y": words("fleet", sort=None, title=None, axis={"labelLimit": 170, "ticks": False, "domain": False})
    }
    key = {"orient": "top", "symbolType": "square", "labelLimit": 240, "offset": 4} if legend else None
    colors = {"domain": [part_texts[part] for part in PARTS], "range": list(PARTS.values())}
    bars = layer(
        {"type": "bar", "height": {"band": 0.78}},
        {
            **fleet,
            "x": number("start", title=None, axis={"tickCount": 6}, scale={"nice": False}),
            "x2": {"field": "end"},
            "color": words("part_text", sort=None, title=None, scale=colors, legend=key),
            "tooltip": [
                words("fleet", title=tooltip_titles[0]),
                words("part_text", title=tooltip_titles[1]),
                number("cost", title=axis_title, format=",.4~g"),
                number("share", title=tooltip_titles[2], format=".1%"),
            ],
        },
        only("datum.row == 'part'"),
    )
    # White on the four Okabe-Ito hues is too pale on orange; near-black reads on all but the blue.
    legible = {"condition": {"test": "datum.part == 'prefill'", "value": "#ffffff"}, "value": "#1b1b1f"}
    inside = layer(
        {"type": "text", "fontSize": 12, "fontWeight": 600},
        {**fleet, "x": number("middle", title=None), "text": words("label"), "color": legible},
        only("datum.row == 'part'"),
        {"calculate": "(datum.start + datum.end) / 2", "as": "middle"},
    )
    totals = layer(
        {"type": "text", "align": "left", "dx": 6, "fontSize": 13, "fontWeight": 700, "color": ink},
        {**fleet, "x": number("end", title=None), "text": words("label")},
        only("datum.row == 'total'"),
    )
    # An unseen mark beyond the longest bar keeps its total from being cut.
    room = layer(
        {"type": "point", "opacity": 0},
        {**fleet, "x": number("edge", title=None)},
        only("datum.row == 'total'"),
        {"calculate": "datum.end * 1.24", "as": "edge"},
    )
    return {"layer": [bars, inside, totals, room], "height": height}


def money_text(value: float) -> str:
    """Three significant digits, thousands separated: 0.0421, 4.21, 1,240."""
    if value == 0:
        return "0"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if value < 100 else f"{value:.0f}"
