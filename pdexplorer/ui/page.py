"""The page: inputs left, the answer right, everything that takes longer in tabs that work only while open.

Streamlit runs this file from top to bottom on every change; `app.py` only calls `main`.
"""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pdexplorer.scenario.link import to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.texts.verdict_words import unknown
from pdexplorer.ui import compute
from pdexplorer.ui.answer import Answered, answered
from pdexplorer.ui.brand import ICON, LOGO
from pdexplorer.ui.case_line import case_line
from pdexplorer.ui.figures import MAP_HEIGHT, MAP_HEIGHT_WITH_INTRO, cost_figure
from pdexplorer.ui.intro import intro
from pdexplorer.ui.map_panel import map_panel, map_under_way
from pdexplorer.ui.notices import notices
from pdexplorer.ui.overrides import ask_for_missing, ask_for_prices, missing_figures, unpriced
from pdexplorer.ui.sidebar import sidebar
from pdexplorer.ui.state import Asked, current, write_address
from pdexplorer.ui.style import style
from pdexplorer.ui.tabs.tabs import tabs
from pdexplorer.ui.texts import choose_language, plain, said, text
from pdexplorer.ui.verdict_view import headline, verdict_view

VIEWS = ("all", "verdict", "cost", "map")
KIND = "estimated"


def main() -> None:
    """One run of the page."""
    choose_language()
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
    if embedded:
        view = st.query_params.get("view", "all")
        finish = _page(asked, presets, view if view in VIEWS else "all")
    else:
        sidebar(asked, presets, compute.catalog_for(asked.scenario))
        finish = _page(asked, presets, "page")
    write_address(asked)
    finish()


def _page(asked: Asked, presets: Presets, view: str) -> Callable[[], None]:
    """Draws all but the map; gives what draws the map, which is the last to be there."""
    notices(asked, presets)
    introduced = view == "page" and intro()
    height = MAP_HEIGHT_WITH_INTRO if introduced else MAP_HEIGHT
    catalog = compute.catalog_for(asked.scenario)
    try:
        under_way = map_under_way(asked.scenario, catalog) if view in ("page", "all", "map") else None
        answer = answered(asked)
    except ValueError as error:
        case_line(asked, catalog)
        st.error(text("error.evaluate", why=plain(said(str(error)))), icon=":material/error:")
        return _nothing
    case_line(asked, answer.catalog)
    place = _first_screen(answer, view, height)
    if view == "page":
        tabs(answer, presets)
        st.caption(text("page.about"))
    else:
        link = to_link(asked.scenario, asked.preset, address="/")
        st.markdown(f"[{text('page.open_full')}]({link})")
    if place is None or under_way is None:
        return _nothing
    with_place, with_map = place, under_way

    def finish() -> None:
        with with_place:
            map_panel(answer, with_map, KIND, height)

    return finish


def _first_screen(answer: Answered, view: str, map_height: int) -> DeltaGenerator | None:
    """Everything but the map; the place it takes, None where nothing can be drawn."""
    evaluation, json = answer.evaluation, answer.json
    sides = (evaluation.colocated, evaluation.disaggregated)
    wanted = {"page", "all"}
    if view in wanted | {"verdict"}:
        verdict_view(evaluation, json, answer.whys, compute.standing(answer.scenario, answer.catalog))
        ask_for_missing(missing_figures(side.infeasible for side in sides), answer.catalog)
        ask_for_prices(unpriced(answer.scenario, answer.catalog), answer.catalog)
    if unknown(json) and not any(side.feasible for side in sides):
        return None
    if view in wanted | {"verdict"}:
        headline(json, KIND)
    with st.container(gap="xsmall"):
        if view in wanted | {"cost"}:
            cost_figure(json, answer.whys if view == "cost" else {}, KIND)
        return st.container(gap="xsmall", key=f"map-{map_height}")


def _nothing() -> None:
    """Where there is no map to draw."""


if __name__ == "__main__":
    main()
