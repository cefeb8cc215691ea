"""The hand-written charts are Vega-Lite as Altair's own schema knows it."""

import json

import altair as alt
import numpy as np
import pytest
from jsonschema import ValidationError

from pdexplorer.charts.break_even_map import break_even_map, map_frame
from pdexplorer.charts.cost_bars import cost_bars, cost_frame
from pdexplorer.charts.theme import PARTS
from pdexplorer.charts.vega_lite import standing_alone

NAMES = {part: part for part in PARTS}
COSTS = {"colocated": dict.fromkeys(PARTS, 1.0) | {"total": 4.0}}
MAP = map_frame(
    [100.0, 200.0], [1.0, 5.0], np.array([[1.0, np.nan], [np.inf, 0.5]]),
    [["equal", "neither"], ["disaggregated", "colocated"]], [[(100.0, 1.0), (200.0, 5.0)]], (150.0, 2.0),
    {"equal": "equal"}, "here",
)  # fmt: skip
AXES = {"x_title": "x", "y_title": "y", "gain_title": "g", "x_ticks": [100], "y_ticks": [5]}
CHARTS = {
    "map": standing_alone(break_even_map(**AXES), MAP),
    "map that is clicked": standing_alone(break_even_map(**AXES, picked="picked"), MAP),
    "bars": standing_alone(
        cost_bars(part_texts=NAMES, axis_title="USD"),
        cost_frame(COSTS, {"colocated": "Colocated"}, NAMES),
    ),
    "bars without a key": standing_alone(
        cost_bars(part_texts=NAMES, axis_title="USD", legend=False),
        cost_frame(COSTS, {"colocated": "Colocated"}, NAMES),
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_the_schema_allows_it(name):
    alt.LayerChart.from_dict(CHARTS[name], validate=True)


def test_the_schema_would_not_allow_anything():
    spec = json.loads(json.dumps(CHARTS["bars"]))
    spec["layer"][0]["mark"]["type"] = "candle"
    with pytest.raises(ValidationError):
        alt.LayerChart.from_dict(spec, validate=True)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_that_stands_alone_is_strict_json_with_its_rows(name):
    written = json.loads(json.dumps(CHARTS[name], allow_nan=False))
    assert len(written["data"]["values"]) in (len(MAP), 5)
    assert written["config"]["font"]
