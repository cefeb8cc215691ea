import numpy as np
import pytest

from pdexplorer.charts.break_even_map import COLUMNS, break_even_map, log_edges, map_frame

X = np.geomspace(250, 128_000, 12)
Y = np.geomspace(10, 800, 8)
TEXTS = {"disaggregated": "Splitting wins", "colocated": "Colocated wins", "neither": "Neither can"}


def frame(gain=None, here=(8000.0, 100.0)):
    gain = np.full((Y.size, X.size), 1.2) if gain is None else gain
    winner = np.where(np.isnan(gain), "neither", np.where(gain > 1, "disaggregated", "colocated"))
    return map_frame(X, Y, gain, winner, [[(1000.0, 50.0), (2000.0, 20.0)]], here, TEXTS, "here")


def test_edges_lie_between_centres_on_a_log_axis():
    edges = log_edges(X)
    assert edges.size == X.size + 1
    assert np.all(edges[:-1] < X)
    assert np.all(edges[1:] > X)
    assert np.allclose(np.diff(np.log(edges)), np.log(X[1] / X[0]))


def test_one_cell_a_grid_point_and_every_mark_in_one_frame():
    marks = frame()
    assert tuple(marks.columns) == COLUMNS
    assert (marks["row"] == "cell").sum() == X.size * Y.size
    assert (marks["row"] == "contour").sum() == 2
    assert (marks["row"] == "here").sum() == 1


def test_cells_leave_no_gap():
    cells = frame().query("row == 'cell'").sort_values(["y1", "x1"])
    row = cells[cells["y1"] == cells["y1"].min()]
    assert np.all(row["x2"].to_numpy()[:-1] >= row["x1"].to_numpy()[1:])


def test_a_cell_where_neither_can_run_is_grey_and_has_no_gain():
    gain = np.full((Y.size, X.size), 1.2)
    gain[0, 0] = np.nan
    grey = frame(gain).query("row == 'grey'")
    assert len(grey) == 1
    assert grey["gain"].isna().all()
    assert grey["winner"].iloc[0] == "Neither can"


def test_equal_is_the_middle_of_the_colours():
    gain = np.full((Y.size, X.size), 1.0)
    assert np.allclose(frame(gain).query("row == 'cell'")["log2_gain"], 0.0)
    spec = break_even_map(x_title="x", y_title="y", gain_title="gain", x_ticks=[1000], y_ticks=[100])
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domainMid"] == 0
    assert scale["domain"][0] == -scale["domain"][1]
    assert scale["clamp"]


def test_an_infinite_gain_takes_the_end_of_the_colours():
    gain = np.full((Y.size, X.size), np.inf)
    gain[0] = 0.0
    cells = frame(gain).query("row == 'cell'")
    assert np.isfinite(cells["log2_gain"]).all()
    assert cells["log2_gain"].min() < -1
    assert cells["log2_gain"].max() > 1


def test_words_stand_inside_their_own_region():
    gain = np.where(X[None, :] > 4000, 1.5, 0.7) * np.ones((Y.size, 1))
    words = frame(gain).query("row == 'word'").set_index("text")
    assert words.loc["Splitting wins", "x"] > 4000
    assert words.loc["Colocated wins", "x"] <= 4000
    assert "Neither can" not in words.index


def test_a_word_is_drawn_where_its_region_is_wide_enough():
    gain = np.where(X[None, :] > 40_000, 1.5, 0.7) * np.ones((Y.size, 1))
    words = frame(gain).query("row == 'word'").set_index("text")
    share = {"Splitting wins": (X > 40_000).mean(), "Colocated wins": (X <= 40_000).mean()}
    for text, part in share.items():
        assert words.loc[text, "wide"] * part == pytest.approx(6.8 * len(text))
        assert words.loc[text, "broken"] * part == pytest.approx(6.8 * len(text.split()[0]))
    spec = break_even_map(x_title="x", y_title="y", gain_title="gain", x_ticks=[1000], y_ticks=[100])
    assert "datum.broken <= width" in str(spec["layer"][2])


@pytest.mark.parametrize("here", [(1.0, 1.0), (1e9, 1e9)])
def test_a_place_outside_the_axes_is_drawn_on_their_edge(here):
    marks = frame(here=here)
    cell = marks.query("row == 'cell'")
    mark = marks.query("row == 'here'").iloc[0]
    assert cell["x1"].min() <= mark["x"] <= cell["x2"].max()
    assert cell["y1"].min() <= mark["y"] <= cell["y2"].max()


def test_axes_are_continuous_and_logarithmic():
    spec = break_even_map(x_title="Tokens", y_title="Gbit/s", gain_title="g", x_ticks=[1000], y_ticks=[100])
    for axis, title in (("x", "Tokens"), ("y", "Gbit/s")):
        channel = spec["layer"][0]["encoding"][axis]
        assert channel["type"] == "quantitative"
        assert channel["scale"]["type"] == "log"
        assert channel["title"] == title
