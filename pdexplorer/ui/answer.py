"""One question with its answer, as every part of the page below the inputs reads it."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.presets import Preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.ui import compute
from pdexplorer.ui.overrides import why_text
from pdexplorer.ui.state import Asked
from pdexplorer.verdict import BreakEven


@dataclass(frozen=True)
class Answered:
    """json: as `evaluate --json` writes the evaluation. whys: per fleet that cannot, its limit in words.
    later: the break-evens, which are in the rest only once `complete`.
    """

    scenario: Scenario
    preset: Preset
    catalog: Catalog
    evaluation: Evaluation
    json: Mapping[str, Any]
    whys: Mapping[str, str]
    later: "Future[tuple[BreakEven, ...]]"

    def complete(self) -> "Answered":
        """The same with its break-evens, once they are there; one with draws has them already."""
        if self.evaluation.verdict.confidence is not None:
            return self
        verdict = replace(self.evaluation.verdict, break_even=compute.waited(self.later))
        return replace(
            self,
            evaluation=replace(self.evaluation, verdict=verdict),
            json={**self.json, "verdict": verdict.to_json()},
        )


def answered(asked: Asked) -> Answered:
    """The answer to a question. ValueError in one line where it cannot be evaluated."""
    with compute.asked(asked.scenario) as under_way:
        return answer_of(asked, under_way)


def answer_of(asked: Asked, under_way: compute.UnderWay) -> Answered:
    """The answer to the page's question, once it is there. ValueError as `answered`."""
    evaluation = compute.waited(under_way.evaluated)
    catalog = compute.catalog_for(asked.scenario)
    limits = {
        "colocated": evaluation.colocated.infeasible,
        "disaggregated": evaluation.disaggregated.infeasible,
    }
    whys = {fleet: why_text(limit, catalog) for fleet, limit in limits.items() if limit is not None}
    return Answered(
        asked.scenario, asked.preset, catalog, evaluation, evaluation.to_json(), whys, under_way.flips
    )
