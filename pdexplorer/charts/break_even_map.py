"""Where splitting pays: gain over two inputs as colour, the line of equal cost, and where you stand."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pdexplorer.charts.theme import GAIN_LABEL, GAIN_SCHEME, GBIT_LABEL, HALO, INK, NEITHER, TOKENS_LABEL
from pdexplorer.charts.vega_lite import group, layer, number, only, words

COLUMNS = (
    *("row", "x1", "x2", "y1", "y2", "x", "y", "order", "line"),
    *("gain", "log2_gain", "wide", "broken", "winner", "text"),
)
_WORDS = ("row", "winner", "text")
_OVERLAP = 0.12  # neighbours overlap by this share of a cell: exact edges leave hairline seams when drawn
_LAST_NARROW = 0x2E7F  # the code of the last letter that is not East Asian
_SLIVER = 0.06  # of the map: smaller regions carry no word
X_TICKS = (
    *(100, 250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000),
    1_000_000,
)
Y_TICKS = (1, 5, 10, 25, 50, 100, 200, 400, 800, 1600, 3200, 6400)
"""Round values of input tokens and of Gbit/s per NIC, for the axes."""

_CLAMP_LOG2 = 1.0  # colours saturate at twice as good and half as good


def map_frame(
    x_values: Sequence[float] | NDArray[np.float64],
    y_values: Sequence[float] | NDArray[np.float64],
    gain: NDArray[np.float64],
    winner: Sequence[Sequence[str]] | NDArray[Any],
    contours: Sequence[Sequence[tuple[float, float]]],
    here: tuple[float, float] | None,
    winner_texts: Mapping[str, str],
    here_text: str,
) -> pd.DataFrame:
    """All marks of the map in one frame, told apart by `row`: cell, grey, contour, here, word.

    x_values (nx,) and y_values (ny,) are cell centres on log axes; gain (ny, nx) is a ratio, 1 where both
    fleets are equal, NaN where neither can run. contours are polylines of (x, y). Words stand in the middle
    of each region that is large enough to carry one: on one line where the chart is as wide as their `wide`
    (pixels), else broken at spaces where it is as wide as `broken`.
    """
    xs, ys = np.asarray(x_values, float), np.asarray(y_values, float)
    x_edges, y_edges = log_edges(xs), log_edges(ys)
    winners = np.asarray(winner, dtype=object)
    ny, nx = gain.shape
    iy, ix = np.mgrid[0:ny, 0:nx]
    iy, ix = iy.ravel(), ix.ravel()
    flat = gain.ravel()
    drawable = np.isfinite(flat) & (flat > 0)
    # A side that cannot run at all has no finite ratio: its cell takes the colour's end, the tooltip says so.
    log2 = np.where(drawable, np.log2(np.where(drawable, flat, 1.0)), np.where(flat > 1, 9.0, -9.0))
    neither = np.isnan(flat)
    cells: dict[str, NDArray[Any]] = {
        "row": np.where(neither, "grey", "cell").astype(object),
        "x1": x_edges[ix],
        "x2": np.minimum(x_edges[ix + 1] * (x_edges[ix + 1] / x_edges[ix]) ** _OVERLAP, x_edges[-1]),
        "y1": y_edges[iy],
        "y2": np.minimum(y_edges[iy + 1] * (y_edges[iy + 1] / y_edges[iy]) ** _OVERLAP, y_edges[-1]),
        "x": xs[ix],
        "y": ys[iy],
        "gain": np.where(drawable, flat, np.nan),
        "log2_gain": np.where(neither, np.nan, log2),
        "winner": np.array([winner_texts.get(w, w) for w in map(str, winners.ravel())], dtype=object),
    }
    marks: list[dict[str, Any]] = []
    for line, points in enumerate(contours):
        marks.extend(
            {"row": "contour", "x": x, "y": y, "order": order, "line": line}
            for order, (x, y) in enumerate(points)
        )
    marks.extend(_region_words(xs, ys, winners, winner_texts, None if here is None else here[1]))
    if here is not None:
        x = float(np.clip(here[0], x_edges[0], x_edges[-1]))
        y = float(np.clip(here[1], y_edges[0], y_edges[-1]))
        marks.append({"row": "here", "x": x, "y": y, "text": here_text})
    return _stacked(cells, flat.size, marks)


def _stacked(
    cells: Mapping[str, NDArray[Any]], count: int, marks: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Cells above marks, column by column: ten times faster than joining frames. Half-size numbers."""
    columns: dict[str, NDArray[Any]] = {}
    for name in COLUMNS:
        words = name in _WORDS
        missing = None if words else np.nan
        kind: Any = object if words else np.float32
        above = cells.get(name, np.full(count, missing, dtype=kind))
        below = np.array([mark.get(name, missing) for mark in marks], dtype=kind)
        columns[name] = np.concatenate([above.astype(kind), below])
    return pd.DataFrame(columns)


def break_even_map(
    *,
    x_title: str,
    y_title: str,
    gain_title: str,
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    winner_title: str = "better",
    height: int = 260,
    picked: str = "",
) -> dict[str, Any]:
    """Vega-Lite for the frames of `map_frame`: continuous log axes, with ticks where given, in the units of
    the titles.

    picked: the name under which a clicked cell's x and y are reported; empty where nothing listens.
    """
    x_axis = {"values": list(x_ticks), "labelExpr": TOKENS_LABEL, "grid": False, "labelFlush": False}
    y_axis = {"values": list(y_ticks), "labelExpr": GBIT_LABEL, "grid": False}

    def place(x: str, y: str) -> dict[str, Any]:
        log = {"type": "log", "nice": False}
        return {
            "x": number(x, title=x_title, scale=log, axis=x_axis),
            "y": number(y, title=y_title, scale=log, axis=y_axis),
        }

    tooltip = [
        number("x", title=x_title, format=",.3~s"),
        number("y", title=y_title, format=",.3~r"),
        words("winner", title=winner_title),
        number("gain", title=gain_title, format=".2f"),
    ]
    corners = {**place("x1", "y1"), "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    # No description for each of hundreds of cells: the chart has one, and browsers pay for every expression.
    cells = layer(
        {"type": "rect", "strokeWidth": 0, "aria": False},
        {**corners, "color": _gain_color(gain_title, height), "tooltip": tooltip},
        only("datum.row == 'cell'"),
    )
    grey = layer(
        {"type": "rect", "color": NEITHER, "aria": False},
        {**corners, "tooltip": tooltip[:3]},
        only("datum.row == 'grey'"),
    )
    here = place("x", "y")
    contour = layer(
        {"type": "line", "color": INK, "strokeDash": [6, 3], "strokeWidth": 2, "interpolate": "linear"},
        {**here, "order": number("order"), "detail": words("line")},
        only("datum.row == 'contour'"),
    )
    # In a narrower chart the word would lie on its region's neighbours.
    named = group(
        _on_a_halo(here, {"fontSize": 13}, "lines"),
        only("datum.row == 'word' && datum.broken <= width"),
        {"calculate": "datum.wide <= width ? datum.text : split(datum.text, ' ')", "as": "lines"},
    )
    cross = {
        **{"type": "point", "shape": "cross", "size": 260, "filled": True, "opacity": 1},
        **{"color": INK, "stroke": HALO, "strokeWidth": 2},
    }
    stands = group(
        [layer(cross, here), *_on_a_halo(here, {"fontSize": 12, "dy": -17})], only("datum.row == 'here'")
    )
    # Grouped, so that hundreds of cells are passed over once and not by every small mark.
    marks = group([contour, named, stands], only("datum.row != 'cell' && datum.row != 'grey'"))
    spec: dict[str, Any] = {"layer": [cells, grey, marks], "height": height}
    if picked:
        click = {"type": "point", "fields": ["x", "y"], "on": "click", "toggle": False}
        cells["name"] = "cells"
        spec["params"] = [{"name": picked, "select": click, "views": ["cells"]}]
    return spec


def _gain_color(title: str, height: int) -> dict[str, Any]:
    scale = {
        **{"scheme": GAIN_SCHEME, "reverse": True, "clamp": True},
        **{"domain": [-_CLAMP_LOG2, _CLAMP_LOG2], "domainMid": 0},
    }
    legend = {
        **{"orient": "right", "values": [-1, -0.5, 0, 0.5, 1], "labelExpr": GAIN_LABEL},
        **{"gradientLength": max(80, height - 90), "titleLimit": 160},
    }
    return number("log2_gain", title=title, scale=scale, legend=legend)


def _on_a_halo(
    place: Mapping[str, Any], look: Mapping[str, Any], field: str = "text"
) -> list[dict[str, Any]]:
    """Words that can be read on any colour."""
    encoding = {**place, "text": words(field)}
    look = {"type": "text", "fontWeight": 700, **look}
    halo = {"stroke": HALO, "strokeWidth": 4, "strokeJoin": "round"}
    return [layer({**look, **halo}, encoding), layer({**look, "color": INK}, encoding)]


def log_edges(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges (n+1,) of cells around centres (n,) on a log axis; a lone centre gets a factor of two."""
    if centres.size == 1:
        return np.array([centres[0] / np.sqrt(2.0), centres[0] * np.sqrt(2.0)])
    log = np.log(centres)
    middle = (log[:-1] + log[1:]) / 2
    first, last = 2 * log[0] - middle[0], 2 * log[-1] - middle[-1]
    edges: NDArray[np.float64] = np.exp(np.concatenate([[first], middle, [last]]))
    return edges


def _region_words(
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    winners: NDArray[Any],
    texts: Mapping[str, str],
    here_y: float | None,
) -> list[dict[str, Any]]:
    words: list[dict[str, Any]] = []
    clear = _centrality(ys.size) * _away_from(ys, here_y)
    for kind, text in texts.items():
        inside = winners == kind
        if inside.mean() < _SLIVER:  # a word on a sliver would lie on its neighbour
            continue
        runs = [_longest_run(row) for row in inside]
        row = int(np.argmax(np.array([length for _, length in runs]) * clear))
        start, length = runs[row]
        wide, broken = (max(map(_pixels, lines)) * xs.size / length for lines in ([text], text.split(" ")))
        place = {"x": xs[start + (length - 1) // 2], "y": ys[row], "wide": wide, "broken": broken}
        words.append({"row": "word", **place, "text": text})
        clear = clear * _away_from(ys, float(ys[row]), 0.12)
    return words


def _longest_run(inside: NDArray[np.bool_]) -> tuple[int, int]:
    """Start and length of the longest unbroken stretch that is inside; 0, 0 where none is."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    if not starts.size:
        return 0, 0
    longest = int(np.argmax(lengths))
    return int(starts[longest]), int(lengths[longest])


def _pixels(text: str) -> float:
    """About how wide a region's word is drawn, at 13 px and bold: Chinese characters are square."""
    return sum(14.0 if ord(letter) > _LAST_NARROW else 6.8 for letter in text)


def _centrality(count: int) -> NDArray[np.float64]:
    """Prefers rows away from the edges, where a word would be cut."""
    position = (np.arange(count) + 0.5) / count
    weight: NDArray[np.float64] = np.minimum(np.minimum(position, 1 - position) / 0.2, 1.0)
    return weight


def _away_from(ys: NDArray[np.float64], here_y: float | None, share: float = 0.22) -> NDArray[np.float64]:
    """Prefers rows away from the "you are here" mark and other words, by a share of the axis."""
    if here_y is None or ys.size < 2:
        return np.ones(ys.size)
    apart = np.abs(np.log(ys / here_y)) / (np.log(ys[-1]) - np.log(ys[0]))
    weight: NDArray[np.float64] = np.where(apart < share, 0.15, 1.0)
    return weight


def within(ticks: Sequence[float], values: Sequence[float] | NDArray[np.float64]) -> tuple[float, ...]:
    """The ticks that lie on an axis over these values."""
    return tuple(float(tick) for tick in ticks if values[0] <= tick <= values[-1])
