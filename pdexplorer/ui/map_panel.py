"""The break-even map with its heading; a clicked cell can be taken as the new scenario."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
import streamlit as st

from pdexplorer.study.map import MapResult
from pdexplorer.study.standing_map import MAP_X, MAP_Y, here_on_map
from pdexplorer.texts.formats import number, ratio_text, tokens_text
from pdexplorer.ui import compute
from pdexplorer.ui.answer import Answered
from pdexplorer.ui.figures import MAP_KEY, map_figure
from pdexplorer.ui.pick import Point, pick, picked_mark
from pdexplorer.ui.texts import plain, said, text

_SAME = 1.02  # a pick this close to where the scenario stands is the scenario
_EVERY = 4


def map_panel(answer: Answered, under_way: "Future[MapResult]", kind: str, height: int) -> None:
    """Heading, the picked cell with its button, and the map once it is there."""
    here = here_on_map(answer.scenario, answer.catalog)
    try:
        result = compute.waited(under_way)
    except ValueError as error:
        st.caption(text("error.evaluate", why=plain(said(str(error)))))
        return
    title = text("map.title", kind=text(f"kind.{kind}"))
    basis = text(f"map.{result.gain_key}")
    with st.container(horizontal=True, key="map-heading", vertical_alignment="center", gap="medium"):
        st.markdown(f"**{title}**", help=text("map.caption", basis=basis), width="content")
        cell = picked_cell(picked_mark(MAP_KEY), result, here)
        clicked = None if cell is None else _point(*cell)
        pick(MAP_KEY, lambda: listed_points(result), clicked, answer.scenario)
    map_figure(result, here, height)


def listed_points(result: MapResult) -> list[Point]:
    """Every fourth cell each way, from short prompts and slow links on: the map for a keyboard."""
    gain = np.asarray(result.gain)
    return [
        _point(round_figures(float(x)), round_figures(float(y)), float(gain[iy, ix]))
        for iy, y in list(enumerate(result.y_values))[::_EVERY]
        for ix, x in list(enumerate(result.x_values))[::_EVERY]
    ]


def _point(x: float, y: float, gain: float) -> Point:
    shown = f"{ratio_text(gain)}×" if np.isfinite(gain) else text("map.neither")
    words = text("pick.map", x=tokens_text(x), y=number(y), gain=shown)
    return Point(words, {MAP_X: f"{x:g}", MAP_Y: f"{y:g}"})


def picked_cell(
    mark: Mapping[str, Any] | None, result: MapResult, here: tuple[float, float]
) -> tuple[float, float, float] | None:
    """x, y as a person would type them and the gain there; None where nothing or the scenario's own place is
    picked. mark: the clicked cell's fields.
    """
    if mark is None or "x" not in mark or "y" not in mark:
        return None
    xs, ys = np.asarray(result.x_values, float), np.asarray(result.y_values, float)
    ix = int(np.argmin(np.abs(np.log(xs / float(mark["x"])))))
    iy = int(np.argmin(np.abs(np.log(ys / float(mark["y"])))))
    x, y = round_figures(float(xs[ix])), round_figures(float(ys[iy]))
    if max(x / here[0], here[0] / x, y / here[1], here[1] / y) < _SAME:
        return None
    return x, y, float(np.asarray(result.gain)[iy, ix])


def round_figures(value: float) -> float:
    """Two significant digits: 6,826.08 tokens is 6,800."""
    return float(f"{value:.2g}")
