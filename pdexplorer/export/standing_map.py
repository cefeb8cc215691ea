"""The break-even map a scenario is shown on, and where it stands there."""

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.axes import current
from pdexplorer.study.map import MapResult, break_even_map

MAP_X, MAP_Y = "workload.input_tokens", "network.nic_gbit_per_s"
_COLUMNS, _ROWS = 36, 24
_X_RANGE = (200.0, 200_000.0)
_Y_RANGE = (2.5, 1600.0)
_ROUND = 1.6  # how far outside the standing range an input may lie before the axis grows


def here_on_map(scenario: Scenario, catalog: Catalog) -> tuple[float, float]:
    """Input tokens and line rate per NIC in Gbit/s of a scenario."""
    return scenario.workload.input_tokens, current(scenario, catalog, MAP_Y) or _Y_RANGE[1]


def standing_map(scenario: Scenario, catalog: Catalog) -> MapResult:
    """The map around a scenario, the same for every place on it. ValueError as for an evaluation."""
    x, y = here_on_map(scenario, catalog)
    anywhere, _ = apply_settings(scenario, {MAP_X: "4000", MAP_Y: "auto"})
    return break_even_map(
        anywhere,
        x_key=MAP_X,
        y_key=MAP_Y,
        x_values=_axis(_X_RANGE, x, _COLUMNS),
        y_values=_axis(_Y_RANGE, y, _ROWS),
    )


def _axis(
    standing: tuple[float, float], here: float, count: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.geomspace(min(standing[0], here / _ROUND), max(standing[1], here * _ROUND), count)
