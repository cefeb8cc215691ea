"""A chart as a Vega-Lite template: built once, then drawn with any frame of the same columns.

Building an Altair chart costs tens of milliseconds, handing a finished dict to the page well under one.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

PADDING = {"left": 2, "right": 2, "top": 4, "bottom": 2}  # pixels; a page's own theme leaves 20 below

_PER_DRAWING = ("data", "datasets", "config", "$schema")


def to_template(chart: "alt.Chart | alt.LayerChart") -> dict[str, Any]:
    """The chart's Vega-Lite dict without data and look; every layer must read the one frame drawn with it."""
    spec: dict[str, Any] = chart.to_dict()
    kept = {key: value for key, value in spec.items() if key not in _PER_DRAWING}
    return {"padding": PADDING, **kept}
