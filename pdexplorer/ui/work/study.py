"""Studies that take longer than a visitor should wait in silence, run in a process of their own."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.evidence.published_results import published_results
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.confidence import confidence_of
from pdexplorer.study.faults import fault_rows
from pdexplorer.study.hybrid import hybrid
from pdexplorer.study.offline import batch_plan
from pdexplorer.study.pairs import rank_pairs
from pdexplorer.study.prefix_reuse import held_conversations, prefix_reuse
from pdexplorer.study.progress import Report, counted, span
from pdexplorer.study.sizing_table import sizing_table


@dataclass(frozen=True)
class Study:
    """What to work out: a name of `STUDIES` with its scenario, `published` with none, or `gallery` with a
    list of scenarios.
    """

    name: str
    scenario_json: str


@dataclass(frozen=True)
class Judged:
    """One scenario of a gallery: as `evaluate --json` writes it, without designs; or why it has no answer."""

    answer: Mapping[str, Any] | None
    ratio: float | None
    problem: str = ""


def run_study(wanted: Study, report: Report) -> Any:
    """The study's own result. ValueError in one line where the scenario does not allow it. report: told the
    share done.
    """
    if wanted.name == "published":
        return published_results(report=report)
    if wanted.name == "gallery":
        return _gallery(json.loads(wanted.scenario_json), report)
    return STUDIES[wanted.name](Scenario.model_validate_json(wanted.scenario_json), report)


def _answer(scenario: Scenario) -> Evaluation:
    return evaluate(scenario, with_break_even=False)


def _gallery(scenarios: list[Any], report: Report) -> tuple[Judged, ...]:
    return tuple(_judged(Scenario.model_validate(one)) for one in counted(scenarios, report))


def _judged(scenario: Scenario) -> Judged:
    try:
        answer = _answer(scenario)
    except ValueError as error:
        return Judged(None, None, str(error))
    told = {key: value for key, value in answer.to_json().items() if key != "candidates"}
    return Judged(told, answer.verdict.ratio)


def _reuse(scenario: Scenario, report: Report) -> Any:
    evaluation = _answer(scenario)
    return prefix_reuse(evaluation, report=report), held_conversations(evaluation)


STUDIES: Mapping[str, Callable[[Scenario, Report], Any]] = {
    "pairs": lambda scenario, report: rank_pairs(scenario, report=report),
    "sizing": lambda scenario, report: sizing_table(_answer(scenario), report=span(report, 0.1, 1.0)),
    "batch": lambda scenario, report: batch_plan(scenario, report=report),
    "confidence": lambda scenario, report: confidence_of(_answer(scenario), report=span(report, 0.1, 1.0)),
    "faults": lambda scenario, report: fault_rows(_answer(scenario), report=span(report, 0.1, 1.0)),
    "hybrid": lambda scenario, report: hybrid(_answer(scenario), report=report),
    "reuse": _reuse,
}
