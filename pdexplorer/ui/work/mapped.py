"""One break-even map: what to work out and the work itself. Runs in the map's own process, so it imports
nothing of the page.
"""

from dataclasses import dataclass

import numpy as np

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.map import MapResult, break_even_map

MAP_X, MAP_Y = "workload.input_tokens", "network.nic_gbit_per_s"


@dataclass(frozen=True)
class Mapped:
    """The scenario without its own place on the axes, and the cells' centres on them."""

    scenario_json: str
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]


def run_map(wanted: Mapped) -> MapResult:
    """The gain in every cell. ValueError in one line where the scenario does not allow a map."""
    return break_even_map(
        Scenario.model_validate_json(wanted.scenario_json),
        x_key=MAP_X,
        y_key=MAP_Y,
        x_values=np.array(wanted.x_values),
        y_values=np.array(wanted.y_values),
    )
