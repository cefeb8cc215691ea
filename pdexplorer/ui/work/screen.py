"""What the first screen asks of the processes beside the page, and such a process itself: pickled questions
on its input, pickled messages on its output. It imports nothing of the page.

Messages of a question: ("step", result) as often as it has results, then ("done", None), or ("error", one
line). It ends with its input.
"""

import pickle
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluation_steps
from pdexplorer.study.map import MapResult
from pdexplorer.study.search.space import design_space
from pdexplorer.study.standing_map import StandingMap, worked_out

Judged = tuple[Evaluation, Mapping[str, Any]]
"""An evaluation, and the same as `evaluate --json` writes it."""


@dataclass(frozen=True)
class Judge:
    """Which design suits a scenario: first the answer, then the same with what would flip it."""

    scenario_json: str

    def steps(self) -> Iterator[Judged]:
        """ValueError in one line where it cannot be evaluated."""
        scenario = Scenario.model_validate_json(self.scenario_json)
        space = design_space(scenario, load_catalog().with_overrides(scenario.overrides))
        for evaluation in evaluation_steps(space):
            yield evaluation, evaluation.to_json()


@dataclass(frozen=True)
class Map:
    """The break-even map of a scenario without its own place on the axes; values: the cells' centres."""

    scenario_json: str
    x_values: tuple[float, ...]
    y_values: tuple[float, ...]

    def steps(self) -> Iterator[MapResult]:
        """The gain in every cell. ValueError in one line where the scenario does not allow a map."""
        scenario = Scenario.model_validate_json(self.scenario_json)
        yield worked_out(StandingMap(scenario, self.x_values, self.y_values))


Question = Judge | Map


def main() -> None:
    """Reads, works, writes; what is printed by anything else goes to the error stream."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr

    def send(kind: str, content: Any) -> None:
        pickle.dump((kind, content), out)
        out.flush()

    while True:
        try:
            question: Question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            for result in question.steps():
                send("step", result)
        except ValueError as error:
            send("error", str(error))
        else:
            send("done", None)


if __name__ == "__main__":
    main()
