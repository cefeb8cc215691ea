"""What the first screen asks of the processes beside the page, and such a process itself: pickled questions
on its input, pickled messages on its output. It imports nothing of the page.

Messages of a question: ("step", result) as often as it has results, then ("done", None), or ("error", one
line). It ends with its input.
"""

import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluation_steps
from pdexplorer.study.map import MapResult
from pdexplorer.study.search.space import design_space
from pdexplorer.study.standing_map import StandingMap, worked_out
from pdexplorer.verdict import BreakEven


@dataclass(frozen=True)
class Judge:
    """Which design suits a scenario: first the answer without its break-evens, then these."""

    scenario_json: str

    def steps(self) -> Iterator[Evaluation | tuple[BreakEven, ...]]:
        """ValueError in one line where it cannot be evaluated."""
        scenario = Scenario.model_validate_json(self.scenario_json)
        space = design_space(scenario, load_catalog().with_overrides(scenario.overrides))
        steps = evaluation_steps(space)
        yield next(steps)
        yield next(steps).verdict.break_even


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


class Question(Protocol):
    """Whatever such a process is asked: `Judge`, `Map`, or what a tab wants; frozen, so that it is a key."""

    def steps(self) -> Iterator[Any]:
        """Its results, one or more. ValueError in one line where there is none."""


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
