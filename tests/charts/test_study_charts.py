import numpy as np

from pdexplorer.charts.accuracy import accuracy_frame
from pdexplorer.charts.lines import fleet_lines, line_frame
from pdexplorer.charts.template import to_template
from pdexplorer.charts.time_bars import time_bars, time_frame
from pdexplorer.charts.tornado import tornado, tornado_frame

FLEETS = {"colocated": "Together", "disaggregated": "Apart"}


def test_points_and_windows_stand_in_one_frame():
    frame = line_frame([("colocated", 1.0, 2.0), ("disaggregated", 1.0, None)], FLEETS, [(3.0, 4.0)])
    assert list(frame["row"]) == ["point", "point", "window"]
    assert frame["y"].isna().tolist() == [False, True, True]
    spec = to_template(fleet_lines(frame, fleet_texts=FLEETS, x_title="x", y_title="y", log=True))
    assert spec["layer"][1]["encoding"]["y"]["scale"]["type"] == "log"


def test_parts_of_a_bar_add_up_in_milliseconds():
    texts = {"router": "Router", "queue": "Queue", "prefill": "Prefill"}
    frame = time_frame([("A, P95", {"router": 0.001, "queue": 0.5, "prefill": 0.25})], texts)
    assert np.allclose(frame["start"], [0.0, 1.0, 501.0])
    assert np.isclose(frame["end"].iloc[-1], 751.0)
    assert to_template(time_bars(frame, part_texts=texts, x_title="ms"))["mark"]["type"] == "bar"


def test_an_end_without_a_gain_draws_no_bar_and_the_break_even_line_stands_at_one():
    frame = tornado_frame([("load", "6 req/s", 1.2, "10 req/s", None)], 1.4, "lower", "higher")
    assert list(frame["row"]) == ["bar", "even"]
    assert frame["start"].tolist() == [1.4, 1.0]
    spec = to_template(tornado(frame, x_title="x", tried_title="t", low="lower", high="higher"))
    assert len(spec["layer"]) == 2


def test_the_line_of_equality_spans_what_was_measured_and_predicted():
    frame = accuracy_frame([("step", 2.0, 3.0, "a"), ("step", 8.0, 5.0, "b"), ("step", 0.0, 1.0, "c")])
    assert list(frame["row"]) == ["point", "point", "line", "line"]
    assert frame.query("row == 'line'")["measured"].tolist() == [2.0, 8.0]
    assert accuracy_frame([]).empty
