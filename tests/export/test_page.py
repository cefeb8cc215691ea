"""The offline page: whole, needs no network and no script, and nothing in it is someone else's markup."""

import re
from html.parser import HTMLParser

import pytest

from pdexplorer.export.page import page_html

LOADS = ("src", "srcset", "poster", "data", "background", "xlink:href")


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    return reader


@pytest.fixture(scope="module")
def html(report, drawer):
    return page_html(report, drawer)


def test_it_loads_nothing(html):
    page = read(html)
    assert not {"script", "link", "iframe", "img", "object", "embed", "base"} & set(page.tags)
    assert [found for found in page.attributes if found[1] in LOADS] == []
    assert [found for found in page.attributes if found[1].startswith("on")] == []
    assert not re.search(r"@import|url\((?!#)", html)
    assert {value for tag, name, value in page.attributes if name == "href"} == {
        "http://127.0.0.1:8501/?preset=rag_h100"
    }


def test_it_holds_the_answer_and_both_charts_in_words_too(html, report):
    page = read(html)
    said = " ".join(page.text)
    assert report.headline in said
    assert report.flips_sentence in said
    assert page.tags.count("svg") == 2
    labels = [value for tag, name, value in page.attributes if tag == "figure" and name == "aria-label"]
    assert len(labels) == 2
    assert all(len(label) > 40 for label in labels)
    assert "Scheduling + idle" in said


def test_names_within_it_are_unique(html):
    names = [value for _, name, value in read(html).attributes if name == "id"]
    assert len(names) == len(set(names))
    assert {f"#{name}" for name in names} >= set(re.findall(r"url\((#[^)]+)\)", html))


def test_it_is_dark_where_the_reader_s_screen_is(html):
    assert "@media (prefers-color-scheme:dark)" in html
    assert "color-scheme:light dark" in html


def test_a_hostile_title_stays_text(hostile, drawer):
    page = read(page_html(hostile, drawer))
    assert not {"script", "img"} & set(page.tags)
    assert "onerror=alert(1)" in " ".join(page.text)


def test_a_scenario_without_an_answer_still_makes_a_page(nothing, drawer):
    said = " ".join(read(page_html(nothing, drawer)).text)
    assert "Cannot judge yet" in said
    assert "No map to draw" in said
