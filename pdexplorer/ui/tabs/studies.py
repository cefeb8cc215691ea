"""Studies behind the tabs: quick ones worked out at once and kept, long ones in a process of their own."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer import MODEL_VERSION
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.recompute import RecomputeRow, recompute_rows
from pdexplorer.study.regimes import ParetoRow, Regimes, pareto, regimes
from pdexplorer.study.sensitivity import Sensitivity, sensitivity
from pdexplorer.study.time_split import TimeRow, time_split
from pdexplorer.ui import compute
from pdexplorer.ui.texts import plain, said, text
from pdexplorer.ui.work.board import board, watch
from pdexplorer.ui.work.study import Study


def long_study(name: str, scenario: Scenario | None = None) -> Any:
    """A long study's result; None while it is worked out or where it cannot be, which is then said."""
    wanted = Study(name, "" if scenario is None else scenario.model_dump_json())
    job = board().find(wanted) or board().start(wanted)
    if not job.finished:
        watch(job, text("work.running"))
    elif job.error:
        st.error(plain(said(job.error)), icon=":material/error:")
    elif job.result is None:
        st.caption(text("work.none"))
    return job.result


def load_study(scenario: Scenario) -> tuple[Regimes | None, tuple[ParetoRow, ...]]:
    """Regimes over load and the Pareto lines."""
    return _load(scenario.model_dump_json(), MODEL_VERSION)


def time_study(scenario: Scenario) -> tuple[tuple[TimeRow, ...], tuple[RecomputeRow, ...]]:
    """Where the time goes, and fetching against recomputing."""
    return _time(scenario.model_dump_json(), MODEL_VERSION)


def sensitivity_study(scenario: Scenario) -> Sensitivity:
    """The tornado's rows."""
    return _sensitivity(scenario.model_dump_json(), MODEL_VERSION)


def table(rows: list[Mapping[str, Any]], formats: Mapping[str, str] | None = None, **more: Any) -> Any:
    """A table as every tab shows it. formats: printf formats of numeric columns."""
    config = {name: st.column_config.NumberColumn(format=shown) for name, shown in (formats or {}).items()}
    frame = pd.DataFrame(rows)
    return st.dataframe(
        frame, hide_index=True, width="stretch", column_config=config, placeholder="–", **more
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _load(scenario_json: str, version: str) -> tuple[Regimes | None, tuple[ParetoRow, ...]]:
    evaluation, _ = compute.evaluated(Scenario.model_validate_json(scenario_json))
    return regimes(evaluation), pareto(evaluation)


@st.cache_resource(max_entries=64, show_spinner=False)
def _time(scenario_json: str, version: str) -> tuple[tuple[TimeRow, ...], tuple[RecomputeRow, ...]]:
    evaluation, _ = compute.evaluated(Scenario.model_validate_json(scenario_json))
    fleet = evaluation.disaggregated_fleet
    return time_split(evaluation), () if fleet is None else recompute_rows(fleet)


@st.cache_resource(max_entries=64, show_spinner=False)
def _sensitivity(scenario_json: str, version: str) -> Sensitivity:
    return sensitivity(Scenario.model_validate_json(scenario_json))
