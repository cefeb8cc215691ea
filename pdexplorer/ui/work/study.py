"""Studies that take longer than a visitor should wait in silence, run in a process of their own."""

import time
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

Report = Callable[[float, float], None]
Told = Callable[[float], None]


@dataclass(frozen=True)
class Study:
    """What to work out: a name of `STUDIES` and the scenario; `published` needs none."""

    name: str
    scenario_json: str


def run_study(wanted: Study, report: Report) -> Any:
    """The study's own result. ValueError in one line where the scenario does not allow it. report: told the
    share done and the seconds left, by those that know.
    """
    started = time.perf_counter()

    def told(share: float) -> None:
        since = time.perf_counter() - started
        report(share, since * (1.0 - share) / share if share > 0.0 else 0.0)

    if wanted.name == "published":
        return published_results()
    return STUDIES[wanted.name](Scenario.model_validate_json(wanted.scenario_json), told)


def _sizing(scenario: Scenario, told: Told) -> Any:
    return sizing_table(evaluate(scenario, with_break_even=False))


def _confidence(scenario: Scenario, told: Told) -> Any:
    return confidence_of(evaluate(scenario))


def _faults(scenario: Scenario, told: Told) -> Any:
    return fault_rows(evaluate(scenario, with_break_even=False))


def _hybrid(scenario: Scenario, told: Told) -> Any:
    return hybrid(evaluate(scenario, with_break_even=False), report=told)


def _reuse(scenario: Scenario, told: Told) -> Any:
    evaluation = evaluate(scenario, with_break_even=False)
    return prefix_reuse(evaluation, report=told), held_conversations(evaluation)


STUDIES: Mapping[str, Callable[[Scenario, Told], Any]] = {
    "pairs": lambda scenario, told: rank_pairs(scenario),
    "sizing": _sizing,
    "batch": lambda scenario, told: batch_plan(scenario),
    "confidence": _confidence,
    "faults": _faults,
    "hybrid": _hybrid,
    "reuse": _reuse,
}
