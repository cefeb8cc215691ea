"""Studies that take longer than a visitor should wait in silence, run in a process of their own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.evidence.published_results import published_results
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.confidence import confidence_of
from pdexplorer.study.faults import fault_rows
from pdexplorer.study.hybrid import hybrid
from pdexplorer.study.offline import batch_plan
from pdexplorer.study.pairs import rank_pairs
from pdexplorer.study.prefix_reuse import held_conversations, prefix_reuse
from pdexplorer.study.sizing_table import sizing_table

Report = Callable[[float], None]


@dataclass(frozen=True)
class Study:
    """What to work out: a name of `STUDIES` and the scenario; `published` needs none."""

    name: str
    scenario_json: str


def run_study(wanted: Study, report: Report) -> Any:
    """The study's own result. ValueError in one line where the scenario does not allow it. report: told the
    share done, by those that know.
    """
    if wanted.name == "published":
        return published_results()
    return STUDIES[wanted.name](Scenario.model_validate_json(wanted.scenario_json), report)


def _sizing(scenario: Scenario, report: Report) -> Any:
    return sizing_table(evaluate(scenario, with_break_even=False))


def _confidence(scenario: Scenario, report: Report) -> Any:
    return confidence_of(evaluate(scenario))


def _faults(scenario: Scenario, report: Report) -> Any:
    return fault_rows(evaluate(scenario, with_break_even=False))


def _hybrid(scenario: Scenario, report: Report) -> Any:
    return hybrid(evaluate(scenario, with_break_even=False), report=report)


def _reuse(scenario: Scenario, report: Report) -> Any:
    evaluation = evaluate(scenario, with_break_even=False)
    return prefix_reuse(evaluation, report=report), held_conversations(evaluation)


STUDIES: Mapping[str, Callable[[Scenario, Report], Any]] = {
    "pairs": lambda scenario, report: rank_pairs(scenario),
    "sizing": _sizing,
    "batch": lambda scenario, report: batch_plan(scenario),
    "confidence": _confidence,
    "faults": _faults,
    "hybrid": _hybrid,
    "reuse": _reuse,
}
