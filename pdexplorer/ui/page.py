"""The page: inputs left, the answer right, everything that takes longer in tabs that work only while open.

Streamlit runs this file from top to bottom on every change; `app.py` only calls `main`.
"""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pdexplorer.scenario.link import to_link
from pdexplorer.scenario.presets import Presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation
from pdexplorer.study.confidence import in_doubt
from pdexplorer.texts.verdict_words import unknown
from pdexplorer.ui import compute
from pdexplorer.ui.answer import Answered, answer_of
from pdexplorer.ui.brand import ICON, LOGO
from pdexplorer.ui.case_line import case_line
from pdexplorer.ui.figures import MAP_HEIGHT, MAP_HEIGHT_WITH_INTRO, cost_figure
from pdexplorer.ui.intro import intro
from pdexplorer.ui.map_panel import map_panel
from pdexplorer.ui.notices import notices
from pdexplorer.ui.overrides import ask_for_missing, ask_for_prices, missing_figures, unpriced
from pdexplorer.ui.sidebar import sidebar
from pdexplorer.ui.state import Asked, current, write_address
from pdexplorer.ui.style import style
from pdexplorer.ui.tabs.tabs import TABS, tabs
from pdexplorer.ui.texts import choose_language, plain, said, text
from pdexplorer.ui.verdict_view import VerdictPlaces, flips_line, headline, verdict_view, verdict_words

VIEWS = ("all", "verdict", "cost", "map")
MAPPED = ("page", "all", "map")
KIND = "estimated"
_DRAWN = "page.drawn"


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
    view = "page"
    if embedded:
        wanted = st.query_params.get("view", "all")
        view = wanted if wanted in VIEWS else "all"
    with compute.asked(asked.scenario, with_map=view in MAPPED) as under_way:
        if not embedded:
            sidebar(asked, presets, compute.catalog_for(asked.scenario))
        finish = _page(asked, presets, view, under_way)
        write_address(asked)
        finish()
        st.session_state[_DRAWN] = asked.scenario


def _page(asked: Asked, presets: Presets, view: str, under_way: compute.UnderWay) -> Callable[[], None]:
    """Draws what the answer says; gives what draws the rest, which takes longer: what would flip the answer,
    then the map.
    """
    # What is not always there has a place of its own: filled or not, the browser keeps what stands below.
    with st.empty():
        introduced = view == "page" and intro()
    noticed = st.empty()
    views = (*TABS, *VIEWS) if view == "page" else VIEWS
    height = MAP_HEIGHT_WITH_INTRO if introduced else MAP_HEIGHT
    try:
        answer = _surer(answer_of(asked, under_way), compute.sure_already)
    except ValueError as error:
        with noticed.container():
            notices(asked, presets, views)
        case_line(asked, compute.catalog_for(asked.scenario), _changed(asked))
        st.error(text("error.evaluate", why=plain(said(str(error)))), icon=":material/error:")
        return _nothing
    # After the answer: nothing of the new question stands beside the old one's answer meanwhile.
    with noticed.container():
        notices(asked, presets, views)
    case_line(asked, answer.catalog, _changed(asked))
    places, map_place = _first_screen(answer, view, height)
    if view == "page":
        tabs(answer, presets)
        st.caption(text("page.about"))
    else:
        link = to_link(asked.scenario, asked.preset, address="/")
        st.markdown(f"[{text('page.open_full')}]({link})")

    def finish() -> None:
        if places is not None and places.flips is not None:
            with places.flips:
                line = st.empty()
            with line.container():
                flips_line(answer.complete().json, compute.standing(answer.scenario, answer.catalog))
        if map_place is not None and under_way.mapped is not None:
            with map_place:
                map_panel(answer, under_way.mapped, KIND, height)
        if places is not None and places.flips is not None and in_doubt(answer.evaluation) and compute.idle():
            _told_how_sure(places.words, line, answer)

    return finish


def _told_how_sure(words: DeltaGenerator, flips: DeltaGenerator, answer: Answered) -> None:
    """The verdict again with what draws over the measured errors say of it: they may take it back."""
    sure = _surer(answer, compute.surely)
    verdict_words(words, sure.evaluation, sure.json, sure.whys)
    with flips.container():
        flips_line(sure.json, compute.standing(sure.scenario, sure.catalog))


def _surer(answer: Answered, ask: Callable[[Scenario], Evaluation | None]) -> Answered:
    """The answer with its draws, where it needs them and `ask` has them."""
    sure = ask(answer.scenario) if in_doubt(answer.evaluation) else None
    return answer if sure is None else replace(answer, evaluation=sure, json=sure.to_json())


def _changed(asked: Asked) -> bool:
    """Whether the browser still shows parts of another question, after an interrupted run of several."""
    session = st.session_state
    changed = bool(session.get(_DRAWN, asked.scenario) != asked.scenario)
    if changed:
        session[_DRAWN] = None
    return changed


def _first_screen(
    answer: Answered, view: str, map_height: int
) -> tuple[VerdictPlaces | None, DeltaGenerator | None]:
    """Everything but what would flip the answer and the map; the places of the verdict and of the map, None
    where there are none.
    """
    evaluation, json = answer.evaluation, answer.json
    sides = (evaluation.colocated, evaluation.disaggregated)
    wanted = {"page", "all"}
    places = None
    if view in wanted | {"verdict"}:
        places = verdict_view(evaluation, json, answer.whys)
        with st.container():
            ask_for_missing(missing_figures(side.infeasible for side in sides), answer.catalog)
            ask_for_prices(unpriced(answer.scenario, answer.catalog), answer.catalog)
    if unknown(json) and not any(side.feasible for side in sides):
        return places, None
    if view in wanted | {"verdict"}:
        headline(json, KIND)
    with st.container(gap="xsmall"):
        if view in wanted | {"cost"}:
            cost_figure(json, answer.whys if view == "cost" else {}, KIND)
        return places, st.container(gap="xsmall", key=f"map-{map_height}")


def _nothing() -> None:
    """Where there is no map to draw."""


if __name__ == "__main__":
    main()
