"""Studies that take longer than a visitor should wait in silence, run in a process of their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.evidence.published_results import published_results
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.confidence import confidence_of
from pdexplorer.study.faults import fault_rows
from pdexplorer.study.offline import batch_plan
from pdexplorer.study.pairs import rank_pairs
from pdexplorer.study.sizing_table import sizing_table


@dataclass(frozen=True)
class Study:
    """What to work out: a name of `STUDIES` and the scenario; `published` needs none."""

    name: str
    scenario_json: str


def run_study(wanted: Study) -> Any:
    """The study's own result. ValueError in one line where the scenario does not allow it."""
    if wanted.name == "published":
        return published_results()
    return STUDIES[wanted.name](Scenario.model_validate_json(wanted.scenario_json))


def _sizing(scenario: Scenario) -> Any:
    return sizing_table(evaluate(scenario, with_break_even=False))


def _confidence(scenario: Scenario) -> Any:
    return confidence_of(evaluate(scenario))


def _faults(scenario: Scenario) -> Any:
    return fault_rows(evaluate(scenario, with_break_even=False))


STUDIES: Mapping[str, Callable[[Scenario], Any]] = {
    "pairs": rank_pairs,
    "sizing": _sizing,
    "batch": batch_plan,
    "confidence": _confidence,
    "faults": _faults,
}
