"""The page: inputs left, the answer right, everything that takes longer in tabs that work only while open.

Streamlit runs this file from top to bottom on every change; `app.py` only calls `main`.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pdexplorer.scenario.link import to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.ui import compute
from pdexplorer.ui.brand import ICON, LOGO
from pdexplorer.ui.candidates_tab import candidates_tab
from pdexplorer.ui.case_line import case_line
from pdexplorer.ui.figures import cost_figure, map_figure
from pdexplorer.ui.notices import notices
from pdexplorer.ui.overrides import ask_for_missing, ask_for_prices, missing_figures, unpriced, why_text
from pdexplorer.ui.sidebar import sidebar
from pdexplorer.ui.simulation_tab import simulation_tab
from pdexplorer.ui.sources_tab import sources_tab
from pdexplorer.ui.state import Asked, current, write_address
from pdexplorer.ui.style import style
from pdexplorer.ui.texts import plain, text
from pdexplorer.ui.verdict_view import headline, unknown, verdict_view

VIEWS = ("all", "verdict", "cost", "map")
KIND = "estimated"
_TABS = ("simulation", "candidates", "sources", "share")


def main() -> None:
    """One run of the page."""
    embedded = bool(st.context.is_embedded)
    st.set_page_config(
        page_title=f"{text('page.title')}: {text('page.question')}",
        page_icon=ICON,
        layout="wide",
        initial_sidebar_state="collapsed" if embedded else 350,
    )
    style(embedded)
    if not embedded:
        st.logo(LOGO, size="medium")
    presets = compute.presets()
    asked = current(presets)
    view = st.query_params.get("view", "all")
    if embedded:
        _answer(asked, presets, view if view in VIEWS else "all")
    else:
        sidebar(asked, presets, compute.catalog_for(asked.scenario))
        _answer(asked, presets, "page")
    write_address(asked)


def _answer(asked: Asked, presets: Presets, view: str) -> None:
    notices(asked, presets)
    scenario = asked.scenario
    catalog = compute.catalog_for(scenario)
    case_line(asked, catalog)
    try:
        evaluation = compute.evaluated(scenario)
    except ValueError as error:
        st.error(text("error.evaluate", why=plain(str(error))), icon=":material/error:")
        return
    answer = evaluation.to_json()
    limits = {
        "colocated": evaluation.colocated.infeasible,
        "disaggregated": evaluation.disaggregated.infeasible,
    }
    whys = {fleet: why_text(limit, catalog) for fleet, limit in limits.items() if limit is not None}
    if view in ("page", "all", "verdict"):
        verdict_view(answer, whys, compute.standing(scenario, catalog))
        ask_for_missing(missing_figures(limits.values()), catalog)
        ask_for_prices(unpriced(scenario, catalog), catalog)
    drawable = not unknown(answer) or any(answer[fleet]["feasible"] for fleet in limits)
    if drawable and view in ("page", "all", "verdict"):
        headline(answer, KIND)
    with st.container(gap="xsmall"):
        if drawable and view in ("page", "all", "cost"):
            cost_figure(answer, whys if view == "cost" else {}, KIND)
        if drawable and view in ("page", "all", "map"):
            _map(asked)
    if view != "page":
        st.markdown(f"[{text('page.open_full')}]({to_link(scenario, asked.preset, address='/')})")
        return
    _tabs(asked, evaluation, answer, whys)
    st.caption(text("page.about"))


def _map(asked: Asked) -> None:
    here = compute.here_on_map(asked.scenario, compute.catalog_for(asked.scenario))
    try:
        result = compute.mapped(asked.scenario, here)
    except ValueError as error:
        st.caption(text("error.evaluate", why=plain(str(error))))
        return
    map_figure(result, here, KIND)


def _tabs(asked: Asked, evaluation: Any, answer: Mapping[str, Any], whys: Mapping[str, str]) -> None:
    tabs = st.tabs([text(f"tab.{name}") for name in _TABS], key="tabs", on_change="rerun")
    for name, tab in zip(_TABS, tabs, strict=True):
        if not tab.open:
            continue
        with tab:
            if name == "simulation":
                simulation_tab(asked.scenario, evaluation, whys)
            elif name == "candidates":
                candidates_tab(answer["candidates"])
            elif name == "sources":
                sources_tab(asked.scenario, evaluation, compute.catalog_for(asked.scenario))
            else:
                st.caption(text("share.full"))
                link = to_link(asked.scenario, asked.preset)
                st.code((st.context.url or "").partition("?")[0] + link, language=None, wrap_lines=True)
                st.code(f'pdexplorer evaluate "{link}"', language="bash", wrap_lines=True)


if __name__ == "__main__":
    main()
