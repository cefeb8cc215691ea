"""The charts of one answer as files that stand alone: what they show, under which assumptions, and the kind
of their numbers are written on them.
"""

from typing import Any

import numpy as np

from pdexplorer import MODEL_VERSION
from pdexplorer.charts.break_even_map import X_TICKS, Y_TICKS, break_even_map, map_frame, within
from pdexplorer.charts.cost_bars import cost_bars, cost_frame
from pdexplorer.charts.vega_lite import standing_alone
from pdexplorer.export.drawing import Drawer, shared_drawer
from pdexplorer.export.report import FLEETS, Report
from pdexplorer.export.tables import cannot_lines, part_names

INK, MUTED, GROUND = "#1a1b1e", "#5a5b60", "#ffffff"
"""Colours of words and ground outside the marks and of nothing else: a dark page replaces just these."""

_WIDTH, _MAP_HEIGHT, _BAR_HEIGHT = 640, 320, 52
_TEXT_WIDTH = 110
_WINNERS = ("colocated", "disaggregated", "neither", "equal")


def chart_svg(report: Report, view: str, drawer: Drawer | None = None) -> bytes:
    """The chart of a view (`cost`, `map`) as SVG. ValueError where there is nothing to draw."""
    return (drawer or shared_drawer()).draw(chart_spec(report, view), "svg")


def chart_png(report: Report, view: str, drawer: Drawer | None = None) -> bytes:
    """The chart of a view (`cost`, `map`) as PNG. ValueError where there is nothing to draw."""
    return (drawer or shared_drawer()).draw(chart_spec(report, view), "png")


def chart_spec(report: Report, view: str, titled: bool = True) -> dict[str, Any]:
    """Vega-Lite of a view with its data. titled: with heading and assumptions, for a file on its own."""
    if view not in ("cost", "map"):
        raise ValueError(f"view = {view[:80]!r}: allowed is one of cost, map")
    spec = _cost(report) if view == "cost" else _map(report)
    spec["width"] = _WIDTH
    spec["padding"] = 12
    spec["config"]["background"] = GROUND
    for guide in ("axis", "legend"):
        spec["config"][guide] |= {"labelColor": INK, "titleColor": INK}
    if titled:
        spec["title"] = {
            "text": chart_title(report, view),
            "subtitle": _subtitle(report),
            "anchor": "start",
            "frame": "bounds",
            "offset": 14,
            "fontSize": 15,
            "color": INK,
            "subtitleColor": MUTED,
            "subtitleFontSize": 12,
            "subtitlePadding": 6,
        }
    return spec


def chart_title(report: Report, view: str) -> str:
    """The heading of a view."""
    if view == "cost":
        kind = report.texts.text("kind.estimated")
        return report.texts.text("cost.title", currency=report.scenario.money.currency, kind=kind)
    return report.text("map_title")


def chart_alt(report: Report, view: str) -> str:
    """The view in words, for those who do not see it."""
    if view == "map":
        return report.text("map_alt", sentence=report.map_sentence)
    return report.text("cost_alt", sentence=report.headline)


def _cost(report: Report) -> dict[str, Any]:
    costs = {
        fleet: report.answer[fleet]["cost_per_request_usd"]
        for fleet in FLEETS
        if (report.answer[fleet]["cost_per_request_usd"] or {}).get("total") is not None
    }
    if not costs:
        raise ValueError(_nothing("cost", report))
    money = report.scenario.money
    names = part_names(report)
    frame = cost_frame(costs, report.fleet_names, names, money.currency_per_usd)
    spec = cost_bars(
        part_texts=names,
        axis_title=report.texts.text("cost.axis", currency=money.currency),
        ink=INK,
        height=_BAR_HEIGHT * len(costs),
    )
    return standing_alone(spec, frame)


def _map(report: Report) -> dict[str, Any]:
    found = report.map
    if found is None or bool(np.isnan(found.gain).all()):
        raise ValueError(_nothing("map", report))
    frame = map_frame(
        found.x_values, found.y_values, found.gain, found.winner, found.contours, report.here,
        {winner: report.texts.text(f"map.{winner}") for winner in _WINNERS}, report.texts.text("map.here"),
    )  # fmt: skip
    spec = break_even_map(
        x_title=report.texts.text("map.x"),
        y_title=report.texts.text("map.y"),
        gain_title=report.texts.text("map.gain"),
        x_ticks=within(X_TICKS, found.x_values),
        y_ticks=within(Y_TICKS, found.y_values),
        height=_MAP_HEIGHT,
    )
    return standing_alone(spec, frame)


def _nothing(view: str, report: Report) -> str:
    why = "; ".join(report.limits) or " ".join(cannot_lines(report)) or report.text("no_fleets")
    return report.text(f"nothing_{view}", why=why.rstrip(".。"))


def _subtitle(report: Report) -> list[str]:
    lines = [
        report.headline,
        report.text("made_line", title=report.title, version=MODEL_VERSION),
        report.case,
    ]
    lines += [report.edits_sentence] if report.edited else []
    lines += [report.text("note", note=note) for note in report.notes]
    return [part for line in lines for part in wrapped(line, _TEXT_WIDTH)]


def wrapped(text: str, width: int, most: int = 3) -> list[str]:
    """At most so many lines of at most so many characters; the rest becomes an ellipsis."""
    lines, line = [], ""
    for word in " ".join(text.split()).split(" "):
        for piece in (word[i : i + width] for i in range(0, max(len(word), 1), width)):
            if line and len(line) + 1 + len(piece) > width:
                lines.append(line)
                line = piece
            else:
                line = f"{line} {piece}".strip()
    lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][: width - 2]} …"]
    return lines
