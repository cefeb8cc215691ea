"""What the page works out for everybody: answers are immutable, so that visitors share them.

Answers and maps come from processes beside the page and are kept by question.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.scenario.presets import Presets, load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.map import MapResult
from pdexplorer.study.search.axes import AXES, current
from pdexplorer.study.standing_map import here_on_map, standing_map
from pdexplorer.ui.work.crew import Crew
from pdexplorer.ui.work.screen import Judge, Map, Question
from pdexplorer.ui.work.tab_study import TabStudy
from pdexplorer.verdict import BreakEven

_LOOK_S = 0.03
_MOST_PROCESSES = 4
_STAND_BACK = 10  # maps and what tabs ask come after answers
_T = TypeVar("_T")


@dataclass(frozen=True)
class UnderWay:
    """One scenario's answer, what would flip it, and its map where it is shown."""

    evaluated: "Future[Evaluation]"
    flips: "Future[tuple[BreakEven, ...]]"
    mapped: "Future[MapResult] | None"


def presets() -> Presets:
    """The presets, the team's included; their files are read again on every call so that edits show."""
    return load_presets()


@contextmanager
def asked(scenario: Scenario, with_map: bool = False) -> Iterator[UnderWay]:
    """All that the first screen shows of a scenario, worked out while the page does other things."""
    with ExitStack() as held:
        work = held.enter_context(_judges().asked(Judge(scenario.model_dump_json())))
        mapped = held.enter_context(_maps().asked(map_of(scenario))).last if with_map else None
        yield UnderWay(work.first, work.last, mapped)


def evaluated(scenario: Scenario) -> Evaluation:
    """The answer to a scenario, once it is there, without its break-evens. ValueError in one line where there
    is none.
    """
    with asked(scenario) as under_way:
        return under_way.evaluated.result()


def studied(question: Question) -> Any:
    """What a tab asks, once it is there. ValueError in one line where there is no answer."""
    with _studies().asked(question) as work:
        return waited(work.last)


def confident(scenario: Scenario) -> Evaluation:
    """The answer with its break-evens and how sure it is, for a thread that is no visitor's. ValueError in
    one line where there is none.
    """
    with _studies().asked(_confident(scenario)) as work:
        found: Evaluation = work.last.result()
        return found


def surely(scenario: Scenario) -> Evaluation:
    """As `confident`, for a visitor: ends the run where he has moved on."""
    sure: Evaluation = studied(_confident(scenario))
    return sure


def sure_already(scenario: Scenario) -> Evaluation | None:
    """As `confident` where somebody has asked it before, else None."""
    known: Evaluation | None = _studies().known(_confident(scenario))
    return known


def idle() -> bool:
    """Whether nobody waits for anything."""
    return not any(crew.busy() for crew in (_judges(), _maps(), _studies()))


def _confident(scenario: Scenario) -> TabStudy:
    return TabStudy("confident", scenario.model_dump_json())


def waited(future: "Future[_T]") -> _T:
    """The result once it is there; where the visitor has moved on meanwhile, Streamlit ends this run here."""
    while not future.done():
        wait([future], timeout=_LOOK_S)
        st.session_state.get("asked")
    return future.result()


def map_of(scenario: Scenario) -> Map:
    """The break-even map around a scenario. Its own place on the two axes does not matter to the answer, so
    that moving along them draws the same map.
    """
    wanted = standing_map(scenario, here_on_map(scenario, catalog_for(scenario)))
    return Map(wanted.scenario.model_dump_json(), wanted.x_values, wanted.y_values)


def standing(scenario: Scenario, catalog: Catalog) -> dict[str, float]:
    """Where the scenario stands on every setting that can be swept, where it has a number there."""
    stands = {key: current(scenario, catalog, key) for key in AXES}
    return {key: value for key, value in stands.items() if value is not None}


def catalog_for(scenario: Scenario) -> Catalog:
    """The catalogue with the scenario's own figures in it."""
    return load_catalog().with_overrides(scenario.overrides)


@st.cache_resource(show_spinner=False)
def _judges() -> Crew:
    return Crew(_processes(), kept=512)


@st.cache_resource(show_spinner=False)
def _maps() -> Crew:
    return Crew(_processes(), kept=256, niceness=_STAND_BACK)


@st.cache_resource(show_spinner=False)
def _studies() -> Crew:
    return Crew(_processes(), kept=128, niceness=_STAND_BACK)


def _processes() -> int:
    """Half the cores for answers and half for maps. More at once slow each other and the page: on two cores
    twenty visitors waited 5 s for the slowest whole pages, instead of 0.7.
    """
    return min(max((os.cpu_count() or 1) // 2, 1), _MOST_PROCESSES)
