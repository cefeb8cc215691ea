"""What every chart shares: fixed colours and order, number formats, and one theme for exported files."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

PARTS: Mapping[str, str] = {
    "prefill": "#0072B2",
    "decode": "#009E73",
    "kv_transfer": "#E69F00",
    "scheduling_idle": "#CC79A7",
}
"""The four parts of a request's cost in the order they are drawn, in Okabe and Ito's colours."""

FLEETS: Mapping[str, str] = {"colocated": "#D55E00", "disaggregated": "#6A3D9A"}
"""Lines of the two fleets; the hues of the map's two sides, so that a colour means one thing on the page."""

GAIN_SCHEME: Literal["purpleorange"] = "purpleorange"
"""Drawn reversed: purple where splitting wins, white at equal, orange where colocating wins."""

INK = "#1b1b1f"
HALO = "#ffffff"
NEITHER = "#bdbdbd"

TOKENS_LABEL = (
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + 'M'"
    " : datum.value >= 1000 ? format(datum.value / 1000, '~g') + 'k' : format(datum.value, '~g')"
)
"""Vega expression of a token axis: thousands as k, as people say it; `~s` would print 1.024k."""

GAIN_LABEL = (
    "(datum.value >= 1 ? '≥' : datum.value <= -1 ? '≤' : '') + format(pow(2, datum.value), '.2~f') + '×'"
)
"""Vega expression of a gain's legend, whose values are log2 of the ratio and clamped at 2 and 1/2."""

GBIT_LABEL = "format(datum.value, '~r')"


def fleet_channels(fleet_texts: Mapping[str, str], dash: Sequence[int] = (6, 3)) -> dict[str, Any]:
    """Channels that tell the two fleets' lines apart: colour, and a dash so that it is never colour alone."""
    domain = [fleet_texts[fleet] for fleet in FLEETS]
    return {
        "color": alt.Color(
            "fleet:N",
            title=None,
            scale=alt.Scale(domain=domain, range=list(FLEETS.values())),
            legend=alt.Legend(orient="top", symbolType="stroke"),
        ),
        "strokeDash": alt.StrokeDash(
            "fleet:N", scale=alt.Scale(domain=domain, range=[[1, 0], list(dash)]), legend=None
        ),
    }


def exported(chart: alt.Chart | alt.LayerChart) -> alt.Chart | alt.LayerChart:
    """The chart with the look it has outside the page, where no page theme applies."""
    themed: alt.Chart | alt.LayerChart = chart.configure(**theme_config())
    return themed


def theme_config() -> dict[str, Any]:
    """Vega-Lite's config of a chart that stands alone (HTML, SVG, PNG)."""
    return {
        "background": "#ffffff",
        "font": "Source Sans Pro, Noto Sans, Noto Sans CJK SC, sans-serif",
        "axis": {
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "gridColor": "#e6e6ea",
        },
        "legend": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
        "title": {"fontSize": 14, "anchor": "start"},
        "view": {"stroke": None},
    }
