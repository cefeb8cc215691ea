"""One break-even map: what to work out and the work itself. Runs in the map's own process, so it imports
nothing of the page.
"""

from dataclasses import dataclass

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.map import MapResult
from pdexplorer.study.standing_map import StandingMap, worked_out


@dataclass(frozen=True)
class Mapped:
    """The scenario without its own place on the axes, and the cells' centres on them."""

    scenario_json: str
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]


def run_map(wanted: Mapped) -> MapResult:
    """The gain in every cell. ValueError in one line where the scenario does not allow a map."""
    scenario = Scenario.model_validate_json(wanted.scenario_json)
    return worked_out(StandingMap(scenario, wanted.x_values, wanted.y_values))
