"""Every item of the share dialog."""

import json

import pytest

from pdexplorer.export.share import share_items, summary_text
from pdexplorer.scenario.link import parse_link
from pdexplorer.scenario.scenario import Scenario


@pytest.fixture(scope="module")
def items(preset, presets, report):
    return share_items(
        preset.scenario, preset, presets, "http://127.0.0.1:8501/?preset=other", report.evaluation
    )


def test_both_links_open_the_scenario(items, preset, presets):
    for link in (items.short_link, items.full_link):
        assert parse_link(link, presets).scenario == preset.scenario


def test_the_scenario_as_json_reads_back(items, preset):
    assert Scenario.model_validate(json.loads(items.scenario_json)) == preset.scenario


def test_there_is_an_address_and_a_name_for_each_chart(items):
    assert set(items.svg_addresses) == set(items.png_addresses) == {"cost", "map"}
    assert set(items.frames) == {"all", "verdict", "cost", "map"}
    assert {"cost.svg", "map.png", "memo.md", "page.html", "scenario.json"} <= set(items.file_names)
    assert all("rag_h100" in name for name in items.file_names.values())


def test_the_summary_holds_verdict_table_and_link(items, report):
    assert report.headline.rstrip(".") in items.markdown
    assert "| TTFT P95 |" in items.markdown
    assert f"<{items.short_link}>" in items.markdown
    assert "estimated" in items.markdown


def test_a_hostile_title_stays_text(hostile):
    summary = summary_text(hostile)
    assert "<img" not in summary.replace("\\<img", "")
    assert "[a](" not in summary.replace("\\[a\\](", "")
    assert summary.splitlines()[0].count("`") == 0
