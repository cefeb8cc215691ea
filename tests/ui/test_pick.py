"""Points taken over without a mouse: the list beside a chart, and the rows of a table."""

import pytest

from tests.ui.visit import visit


@pytest.mark.parametrize(
    ("view", "place", "key"),
    [
        ("simulation", "chart.map", "network.nic_gbit_per_s"),
        ("load", "chart.load.goodput", "workload.rate_per_s"),
        ("load", "chart.pareto", "slo.tpot_ms"),
        ("sensitivity", "chart.tornado", None),
        ("candidates", "candidates.table", "colocated.tp"),
    ],
)
def test_a_listed_point_becomes_the_scenario(view, place, key):
    page = visit(preset="rag_h100", view=view)
    assert not [box for box in page.selectbox if box.key == f"choose.{place}"]  # costs nothing until opened
    page.button(key=f"list.{place}").click().run()
    box = page.selectbox(key=f"choose.{place}")
    assert len(box.options) > 8
    before = dict(page.query_params)
    box.select_index(1).run()
    page.button(key=f"use.{place}").click().run()
    assert not page.exception
    changed = set(page.query_params) - set(before)
    assert changed
    assert key is None or key in changed
    assert not [box for box in page.selectbox if box.key == f"choose.{place}"]


def test_a_percentile_is_taken_from_a_bar():
    page = visit(preset="rag_h100", view="latency")
    page.button(key="list.chart.split.ttft").click().run()
    page.selectbox(key="choose.chart.split.ttft").select_index(0).run()
    page.button(key="use.chart.split.ttft").click().run()
    assert page.query_params["slo.percentile"] in ("50", ["50"])


def test_what_changes_nothing_is_not_offered():
    page = visit(preset="rag_h100", view="latency")
    page.button(key="list.chart.split.ttft").click().run()
    page.selectbox(key="choose.chart.split.ttft").select_index(1).run()  # P95, as the scenario has it
    assert not [button for button in page.button if button.key == "use.chart.split.ttft"]
