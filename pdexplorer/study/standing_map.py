"""The break-even map a scenario is shown on, input tokens over network speed, and where it stands there."""

from dataclasses import dataclass

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.map import MapResult, break_even_map
from pdexplorer.study.search.axes import current

MAP_X, MAP_Y = "workload.input_tokens", "network.nic_gbit_per_s"
_COLUMNS, _ROWS = 36, 24
_X_RANGE = (200.0, 200_000.0)
_Y_RANGE = (2.5, 1600.0)
_ROUND = 1.6  # how far outside the standing range an input may lie before the axis grows


@dataclass(frozen=True)
class StandingMap:
    """What to work out: the scenario without its own place on the axes, so that moving along them asks for
    the same map, and the cells' centres.
    """

    scenario: Scenario
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]


def here_on_map(scenario: Scenario, catalog: Catalog) -> tuple[float, float]:
    """Input tokens and line rate per NIC in Gbit/s of a scenario."""
    return scenario.workload.input_tokens, current(scenario, catalog, MAP_Y) or _Y_RANGE[1]


def standing_map(scenario: Scenario, here: tuple[float, float]) -> StandingMap:
    """The map around a scenario that stands at `here`."""
    anywhere, _ = apply_settings(scenario, {MAP_X: "4000", MAP_Y: "auto"})
    return StandingMap(anywhere, _axis(_X_RANGE, here[0], _COLUMNS), _axis(_Y_RANGE, here[1], _ROWS))


def worked_out(wanted: StandingMap) -> MapResult:
    """The gain in every cell. ValueError in one line where the scenario does not allow a map."""
    return break_even_map(
        wanted.scenario,
        x_key=MAP_X,
        y_key=MAP_Y,
        x_values=np.array(wanted.x_values),
        y_values=np.array(wanted.y_values),
    )


def _axis(standing: tuple[float, float], here: float, count: int) -> tuple[float, ...]:
    low, high = min(standing[0], here / _ROUND), max(standing[1], here * _ROUND)
    return tuple(float(value) for value in np.geomspace(low, high, count))
