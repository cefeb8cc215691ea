"""One question with its answer, as every part of the page below the inputs reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.presets import Preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.ui import compute
from pdexplorer.ui.overrides import why_text
from pdexplorer.ui.state import Asked


@dataclass(frozen=True)
class Answered:
    """json: as `evaluate --json` writes the evaluation. whys: per fleet that cannot, its limit in words."""

    scenario: Scenario
    preset: Preset
    catalog: Catalog
    evaluation: Evaluation
    json: Mapping[str, Any]
    whys: Mapping[str, str]


def answered(asked: Asked) -> Answered:
    """The answer to the page's question. ValueError in one line where it cannot be evaluated."""
    evaluation, json = compute.evaluated(asked.scenario)
    catalog = compute.catalog_for(asked.scenario)
    limits = {
        "colocated": evaluation.colocated.infeasible,
        "disaggregated": evaluation.disaggregated.infeasible,
    }
    whys = {fleet: why_text(limit, catalog) for fleet, limit in limits.items() if limit is not None}
    return Answered(asked.scenario, asked.preset, catalog, evaluation, json, whys)
