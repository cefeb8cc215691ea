"""What the page has worked out before, by scenario: answers are immutable, so everybody shares them.

Keys are the scenario as canonical JSON and the model version; results live in `cache_resource`, which hands
out the object itself where `cache_data` would copy it on every rerun.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import streamlit as st

from pdexplorer import MODEL_VERSION
from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.scenario.presets import Presets, load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.map import MapResult
from pdexplorer.study.search.axes import AXES, current
from pdexplorer.study.standing_map import standing_map
from pdexplorer.ui.work.map_worker import MapWorker
from pdexplorer.ui.work.mapped import Mapped


def presets() -> Presets:
    """The presets, the team's included; their files are read again on every call so that edits show."""
    return load_presets()


def evaluated(scenario: Scenario) -> tuple[Evaluation, Mapping[str, Any]]:
    """The answer to a scenario and the same as `evaluate --json` writes it, from the cache where it has been
    asked before.
    """
    return _evaluated(scenario.model_dump_json(), MODEL_VERSION)


def mapped(scenario: Scenario, here: tuple[float, float]) -> "Future[MapResult]":
    """The break-even map around a scenario, under way in the map's own process or done. The scenario's own
    place on the two axes does not matter to the answer, so that moving along them draws the same map.
    """
    wanted = standing_map(scenario, here)
    return _mapped(wanted.scenario.model_dump_json(), wanted.x_values, wanted.y_values, MODEL_VERSION)


def standing(scenario: Scenario, catalog: Catalog) -> dict[str, float]:
    """Where the scenario stands on every setting that can be swept, where it has a number there."""
    stands = {key: current(scenario, catalog, key) for key in AXES}
    return {key: value for key, value in stands.items() if value is not None}


def catalog_for(scenario: Scenario) -> Catalog:
    """The catalogue with the scenario's own figures in it."""
    return load_catalog().with_overrides(scenario.overrides)


@st.cache_resource(max_entries=512, show_spinner=False)
def _evaluated(scenario_json: str, version: str) -> tuple[Evaluation, Mapping[str, Any]]:
    found = evaluate(Scenario.model_validate_json(scenario_json))
    return found, found.to_json()


@st.cache_resource(max_entries=256, show_spinner=False)
def _mapped(
    scenario_json: str, x: tuple[float, ...], y: tuple[float, ...], version: str
) -> "Future[MapResult]":
    return _map_worker().submit(Mapped(scenario_json, x, y))


@st.cache_resource(show_spinner=False)
def _map_worker() -> MapWorker:
    return MapWorker()
