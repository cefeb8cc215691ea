"""What every chart shares: fixed colours and order, number formats, and one theme for exported files."""

from collections.abc import Mapping
from typing import Any, Literal

PARTS: Mapping[str, str] = {
    "prefill": "#0072B2",
    "decode": "#009E73",
    "kv_transfer": "#E69F00",
    "scheduling_idle": "#CC79A7",
}
"""The four parts of a request's cost in the order they are drawn, in Okabe and Ito's colours."""

FLEETS: Mapping[str, str] = {"colocated": "#D55E00", "disaggregated": "#8A5FC7"}
"""Lines of the two fleets; the hues of the map's two sides, so that a colour means one thing on the page.
Both stand out (3:1 and more) from a white and from a dark ground.
"""

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
