"""The tabs from a visitor's side, without a browser: they work while open, on request and beside the page."""

import time

import pytest

from tests.ui.visit import address, change, visit


def run_to_the_end(page):
    page.button(key="simulation.run").click().run()
    for _ in range(120):
        assert not page.exception
        if page.dataframe:
            return page
        time.sleep(0.25)
        page.run()
    raise AssertionError("the simulation did not end within 30 s")


def test_simulation_runs_on_request_and_goes_stale():
    page = visit(view="simulation")
    page.number_input(key="simulation.requests").set_value(100).run()
    assert len(page.dataframe) == 0
    run_to_the_end(page)
    assert len(page.dataframe) == 1
    assert len(page.get("vega_lite_chart")) == 10
    change(page, "workload.output_tokens", 123.0)
    assert len(page.dataframe) == 0


@pytest.mark.parametrize(
    ("tab", "frames"),
    [
        ("candidates", 1),
        ("methodology", None),
        ("share", 0),
        ("compare", 0),
        ("load", 0),
        ("latency", 1),
        ("sensitivity", 0),
    ],
)
def test_other_tabs_work_only_while_open(tab, frames):
    assert not visit().dataframe
    found = len(visit(view=tab).dataframe)
    assert found == frames if frames is not None else found >= 3


def test_a_pasted_trace_is_replayed_and_a_broken_one_refused():
    page = visit(view="simulation")
    page.button_group(key="simulation.source").set_value("trace").run()
    rows = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
        f"2023-11-16 18:17:{second:02d}.0000000,{400 + second},{20 + second}\n" for second in range(20)
    )
    page.text_area(key="trace.text").set_value(rows).run()
    assert not page.exception
    assert any("20 requests" in caption.value for caption in page.caption)
    run_to_the_end(page)
    page.text_area(key="trace.text").set_value(rows + "not,a,row\n").run()
    assert not page.exception
    assert "trace cannot be read" in page.error[0].value


@pytest.mark.parametrize(("tab", "frames"), [("sizing", 3), ("batch", 1), ("presets", 1)])
def test_a_long_study_is_worked_out_beside_the_page(tab, frames):
    page = visit(view=tab, preset="short_chat_h100")
    for _ in range(120):
        if page.dataframe:
            break
        time.sleep(0.25)
        page.run()
        assert not page.exception
    assert len(page.dataframe) == frames


def test_a_cancelled_study_starts_again_only_when_asked():
    page = visit(view="hybrid", preset="short_chat_h100")
    page.button(key="work.cancel").click().run()
    page.run()
    assert any("Cancelled" in caption.value for caption in page.caption)
    assert not page.dataframe
    page.button(key="work.again.hybrid").click().run()
    assert not page.exception
    assert page.button(key="work.cancel")
    page.button(key="work.cancel").click().run()


@pytest.mark.parametrize("preset", ["ascend_910b", "offline_labelling", "rdma_fallback", "local_7b_4bit"])
@pytest.mark.parametrize("tab", ["load", "latency", "sensitivity", "payback", "share"])
def test_tabs_hold_for_presets_where_a_side_cannot_or_nothing_is_asked(tab, preset):
    page = visit(view=tab, preset=preset, lang="zh")
    assert not page.error


def test_a_pinned_scenario_is_compared_and_kept_in_the_link():
    page = visit(view="compare", preset="rag_h100")
    page.button(key="compare.pin").click().run()
    assert "preset=rag_h100" in address(page)["a"]
    change(page, "workload.input_tokens", 500.0)
    assert len(page.dataframe) == 2
    assert "a" in address(page)
    again = visit(**address(page))
    assert len(again.dataframe) == 2
    again.button(key="compare.go").click().run()
    assert again.number_input(key="in.workload.input_tokens").value == 8000.0


def test_a_preset_can_be_saved_for_the_team(monkeypatch, tmp_path):
    monkeypatch.setenv("PDEXPLORER_PRESETS", str(tmp_path))
    page = change(visit(view="presets"), "workload.input_tokens", 777.0)
    page.text_input(key="save.name").set_value("ours").run()
    page.button(key="save.folder").click().run()
    assert not page.exception
    assert page.success
    assert visit(preset="ours").number_input(key="in.workload.input_tokens").value == 777.0
    page.button(key="save.folder").click().run()
    assert "already" in page.error[0].value
