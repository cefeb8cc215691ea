"""The first screen's charts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pdexplorer.charts.break_even_map import X_TICKS, Y_TICKS, break_even_map, map_frame, within
from pdexplorer.charts.cost_bars import REQUESTS_PER_BAR, cost_bars, cost_frame, money_text
from pdexplorer.charts.template import PADDING
from pdexplorer.charts.theme import PARTS
from pdexplorer.study.map import MapResult
from pdexplorer.texts.formats import number, percent
from pdexplorer.ui.chart import chart, dark
from pdexplorer.ui.chart_key import heading
from pdexplorer.ui.pick import PICKED
from pdexplorer.ui.texts import language, plain, text

FLEETS = ("colocated", "disaggregated")
MAP_KEY = "chart.map"
MAP_HEIGHT = 240
MAP_HEIGHT_WITH_INTRO = 190
COST_HEIGHT = {1: 56, 2: 78}  # axis and padding lie inside the height a page gives a chart


def cost_figure(answer: Mapping[str, Any], whys: Mapping[str, str], kind: str) -> None:
    """Both fleets' cost per request on one axis; a fleet that cannot run is said in words instead."""
    money = answer["scenario"]["money"]
    currency, rate = str(money["currency"]), float(money["currency_per_usd"])
    costs = {
        fleet: answer[fleet]["cost_per_request_usd"]
        for fleet in FLEETS
        if answer[fleet]["feasible"] and _priced(answer[fleet]["cost_per_request_usd"])
    }
    title = text("cost.title", currency=currency, kind=text(f"kind.{kind}"))
    st.html(heading(title, PARTS, part_texts()))
    for fleet in FLEETS:
        if not answer[fleet]["feasible"]:
            sentence = text("cost.cannot", fleet=text(f"fleet.{fleet}"), why=plain(whys.get(fleet, "")))
            st.caption(f":material/block: {sentence}")
    if not costs:
        if any(answer[fleet]["feasible"] for fleet in FLEETS):
            st.caption(f":material/info: {text('cost.none', why=plain(_money_note(answer)))}")
        return
    frame = cost_frame(costs, fleet_texts(), part_texts(), rate)
    with st.container(key=f"cost-{COST_HEIGHT[len(costs)]}"):
        chart(
            frame,
            cost_template(currency, dark(), len(costs)),
            alt=_cost_alt(costs, currency, rate),
            key="chart.cost",
        )


def map_figure(result: MapResult, here: tuple[float, float], height: int) -> None:
    """The break-even map with where the scenario stands; a cell can be picked, see `picked_cell`."""
    won = float(np.mean(np.asarray(result.winner, dtype=object) == "disaggregated"))
    chart(
        _kept_frame(result, here),
        map_template(result, height),
        alt=text("map.alt", share=percent(won), x=number(here[0]), y=number(here[1])),
        key=MAP_KEY,
        picks=True,
        fills=True,
    )


def _kept_frame(result: MapResult, here: tuple[float, float]) -> pd.DataFrame:
    """The session's last frame, where it still shows the same."""
    held = st.session_state.get("map.frame")
    if held is None or held[0] is not result or held[1:3] != (here, language()):
        held = (result, here, language(), placed_frame(result, here))
        st.session_state["map.frame"] = held
    frame: pd.DataFrame = held[3]
    return frame


def placed_frame(result: MapResult, here: tuple[float, float]) -> pd.DataFrame:
    """All marks of the map as its template wants them."""
    return map_frame(
        np.asarray(result.x_values, float),
        np.asarray(result.y_values, float),
        np.asarray(result.gain, float),
        result.winner,
        result.contours,
        here,
        winner_texts(),
        text("map.here"),
    )


def cost_template(currency: str, is_dark: bool, bars: int) -> dict[str, Any]:
    """Vega-Lite of the cost bars, without data."""
    ink = "#f2f2f5" if is_dark else "#1b1b1f"
    height = COST_HEIGHT[bars]
    drawn = cost_bars(
        part_texts=part_texts(),
        axis_title=text("cost.axis", currency=currency),
        ink=ink,
        height=height,
        legend=False,
        tooltip_titles=(text("cost.fleet"), text("cost.part"), text("cost.share")),
    )
    return {"padding": PADDING, **drawn}


def map_template(result: MapResult, height: int) -> dict[str, Any]:
    """Vega-Lite of a map over these axes, without data."""
    spec = break_even_map(
        x_title=text("map.x"),
        y_title=text("map.y"),
        gain_title=text("map.gain"),
        x_ticks=within(X_TICKS, result.x_values),
        y_ticks=within(Y_TICKS, result.y_values),
        winner_title=text("map.winner"),
        height=height,
        picked=PICKED,
    )
    return {"padding": PADDING, **spec}


def fleet_texts() -> dict[str, str]:
    """The fleets' names by key."""
    return {fleet: text(f"fleet.{fleet}") for fleet in FLEETS}


def part_texts() -> dict[str, str]:
    """The cost parts' names by key, in their fixed order."""
    return {part: text(f"part.{part}") for part in PARTS}


def winner_texts() -> dict[str, str]:
    """What a region of the map is called, by its winner."""
    return {winner: text(f"map.{winner}") for winner in (*FLEETS, "neither", "equal")}


def _money_note(answer: Mapping[str, Any]) -> str:
    notes = (answer[fleet].get("money_note") for fleet in FLEETS)
    return next((str(note) for note in notes if note), text("cost.no_price"))


def _priced(cost: Mapping[str, Any] | None) -> bool:
    return cost is not None and cost.get("total") is not None


def _cost_alt(costs: Mapping[str, Mapping[str, float]], currency: str, rate: float) -> str:
    assert REQUESTS_PER_BAR == 1000  # the texts say "per 1,000 requests"
    sentences, names = [], part_texts()
    for fleet, cost in costs.items():
        shown = {part: money_text(cost[part] * REQUESTS_PER_BAR * rate) for part in (*PARTS, "total")}
        parts = ", ".join(f"{names[part]} {shown[part]}" for part in PARTS)
        called = text(f"fleet.{fleet}")
        sentences.append(
            text("cost.alt_fleet", fleet=called, total=shown["total"], currency=currency, parts=parts)
        )
    return text("cost.alt", parts=" ".join(sentences))
