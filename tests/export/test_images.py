"""Charts as files: they parse, say what they show, fetch nothing, and a failed one does not stop the next."""

import contextlib
import socket
from xml.etree import ElementTree

import pytest

from pdexplorer.export.images import chart_png, chart_spec, chart_svg, wrapped

SVG = "{http://www.w3.org/2000/svg}"


def words(svg):
    return " ".join(
        piece for element in ElementTree.fromstring(svg).iter(f"{SVG}text") for piece in element.itertext()
    )


@pytest.mark.parametrize("view", ["cost", "map"])
def test_an_svg_parses_and_says_what_it_shows(view, report, drawer):
    svg = chart_svg(report, view, drawer)
    said = words(svg)
    assert "estimated" in said
    assert "RAG on H100" in said
    assert {"cost": "Scheduling + idle", "map": "you are here"}[view] in said
    tags = {element.tag for element in ElementTree.fromstring(svg).iter()}
    assert f"{SVG}script" not in tags
    assert f"{SVG}image" not in tags


def test_a_png_is_one(report, drawer):
    assert chart_png(report, "cost", drawer).startswith(b"\x89PNG\r\n\x1a\n")


def test_a_hostile_title_stays_text(hostile, drawer):
    svg = chart_svg(hostile, "cost", drawer)
    assert "onerror=alert(1)" in words(svg)
    assert f"{SVG}img" not in {element.tag for element in ElementTree.fromstring(svg).iter()}


def test_nothing_to_draw_is_said_in_one_line(nothing):
    for view in ("cost", "map"):
        with pytest.raises(ValueError, match="no published figure") as error:
            chart_spec(nothing, view)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="allowed is one of cost, map"):
        chart_spec(nothing, "tornado")


def test_after_a_chart_that_cannot_be_drawn_the_next_one_is(report, drawer):
    with pytest.raises(RuntimeError, match="the chart was not drawn"):
        drawer.draw({"mark": "no such mark"}, "svg")
    drawer.close()
    assert drawer.draw(chart_spec(report, "cost"), "svg").startswith(b"<svg")


def test_a_chart_fetches_nothing(drawer):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(1.0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/data.csv"
        spec = {"mark": "point", "data": {"url": url}, "encoding": {"x": {"field": "a", "type": "nominal"}}}
        with contextlib.suppress(RuntimeError):
            drawer.draw(spec, "svg")
        with pytest.raises(TimeoutError):
            listener.accept()


def test_long_words_are_cut_and_long_texts_end_in_an_ellipsis():
    lines = wrapped("a" * 50 + " b" * 200, 20)
    assert len(lines) == 3
    assert max(map(len, lines)) <= 20
    assert lines[-1].endswith("…")
