"""Studies behind the tabs: quick ones worked out at once and kept, long ones in a process of their own."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import pandas as pd
import streamlit as st

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.recompute import RecomputeRow
from pdexplorer.study.regimes import ParetoRow, Regimes
from pdexplorer.study.sensitivity import Sensitivity
from pdexplorer.study.time_split import TimeRow
from pdexplorer.texts.formats import rounded
from pdexplorer.ui import compute
from pdexplorer.ui.pick import Point, pick, picked_row
from pdexplorer.ui.texts import plain, said, text
from pdexplorer.ui.work.board import board, watch
from pdexplorer.ui.work.study import Study
from pdexplorer.ui.work.tab_study import TabStudy


def long_study(name: str, scenario_json: str = "") -> Any:
    """A long study's result; None while it is worked out or where it cannot be, which is then said."""
    wanted = Study(name, scenario_json)
    if board().cancelled(wanted):
        st.caption(text("work.cancelled"))
        if not st.button(text("work.start"), key=f"work.again.{name}"):
            return None
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
    found: tuple[Regimes | None, tuple[ParetoRow, ...]] = _studied("load", scenario)
    return found


def time_study(scenario: Scenario) -> tuple[tuple[TimeRow, ...], tuple[RecomputeRow, ...]]:
    """Where the time goes, and fetching against recomputing."""
    found: tuple[tuple[TimeRow, ...], tuple[RecomputeRow, ...]] = _studied("latency", scenario)
    return found


def sensitivity_study(scenario: Scenario) -> Sensitivity:
    """The tornado's rows."""
    found: Sensitivity = _studied("sensitivity", scenario)
    return found


def _studied(name: str, scenario: Scenario) -> Any:
    return compute.studied(TabStudy(name, scenario.model_dump_json()))


def table(rows: Sequence[Mapping[Any, Any]], widths: Mapping[str, int] | None = None, **more: Any) -> None:
    """A table as every tab shows it: numbers to three digits, whole ones in full, yes and no in words, a dash
    where there is none. widths: pixels, of columns that would take too much room.
    """
    frame = pd.DataFrame(list(rows))
    for name in frame.select_dtypes("bool").columns:
        frame[name] = frame[name].map({True: text("table.yes"), False: text("table.no")})
    columns = {name: st.column_config.Column(width=pixels) for name, pixels in (widths or {}).items()}
    st.dataframe(
        frame.style.format(_cell, na_rep="–"),
        hide_index=True,
        width="stretch",
        **{"column_config": columns, "height": "content", "placeholder": "–", **more},
    )


def pick_table(
    key: str,
    rows: Sequence[Mapping[Any, Any]],
    points: Sequence[Point],
    scenario: Scenario,
    use: str = "pick.use",
    **more: Any,
) -> int | None:
    """A table whose rows can be taken: points, one a row. The selected row's place; None where none is."""
    table(rows, on_select="rerun", selection_mode="single-row", key=key, **more)
    at = picked_row(key, len(points))
    pick(key, lambda: points, None if at is None else points[at], scenario, use, "pick.rows")
    return at


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return rounded(value)
    return f"{value:,}" if isinstance(value, Integral) else str(value)
