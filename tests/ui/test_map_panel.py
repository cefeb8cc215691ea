import numpy as np
import pytest

from pdexplorer.study.map import MapResult
from pdexplorer.ui.map_panel import picked_cell, round_figures

RESULT = MapResult(
    "workload.input_tokens",
    "network.nic_gbit_per_s",
    np.array([1000.0, 2012.0, 4000.0]),
    np.array([100.0, 204.0]),
    np.array([[0.5, 1.0, 1.5], [0.6, 1.1, 1.6]]),
    "goodput_per_dollar_ratio",
    np.full((2, 3), "equal"),
    [],
)


def test_a_click_gives_round_numbers_and_the_gain_there():
    assert picked_cell({"x": 2012.0, "y": 204.0}, RESULT, (1000.0, 100.0)) == (2000.0, 200.0, 1.1)


@pytest.mark.parametrize("nothing", [None, {}, {"x": 2012.0}])
def test_without_a_click_nothing_is_offered(nothing):
    assert picked_cell(nothing, RESULT, (1000.0, 100.0)) is None


def test_where_the_scenario_stands_is_not_offered():
    assert picked_cell({"x": 2012.0, "y": 204.0}, RESULT, (2000.0, 200.0)) is None


def test_round_figures_keep_two_digits():
    assert round_figures(6826.08) == 6800.0
