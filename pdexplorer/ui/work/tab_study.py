"""What the quick tabs and the live addresses ask of the processes beside the page: some tenths of a second
that nobody should feel who shares the page's interpreter. It imports nothing of the page.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.confidence import with_confidence
from pdexplorer.study.recompute import recompute_rows
from pdexplorer.study.regimes import pareto, regimes
from pdexplorer.study.sensitivity import sensitivity
from pdexplorer.study.time_split import time_split


@dataclass(frozen=True)
class TabStudy:
    """A name of `STUDIES` and the scenario."""

    name: str
    scenario_json: str

    def steps(self) -> Iterator[Any]:
        """One result. ValueError in one line where the scenario does not allow it."""
        yield STUDIES[self.name](Scenario.model_validate_json(self.scenario_json))


def _load(scenario: Scenario) -> Any:
    evaluation = _answer(scenario)
    return regimes(evaluation), pareto(evaluation)


def _latency(scenario: Scenario) -> Any:
    evaluation = _answer(scenario)
    fleet = evaluation.disaggregated_fleet
    return time_split(evaluation), () if fleet is None else recompute_rows(fleet)


def _answer(scenario: Scenario) -> Evaluation:
    return evaluate(scenario, with_break_even=False)


STUDIES: Mapping[str, Callable[[Scenario], Any]] = {
    "load": _load,
    "latency": _latency,
    "sensitivity": sensitivity,
    "confident": lambda scenario: with_confidence(evaluate(scenario)),
}
