"""The page from a visitor's side, without a browser: what it shows, keeps in the address and refuses."""

import json
import re
import time

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate
from pdexplorer.study.confidence import with_confidence
from tests.ui.test_own_model import LLAMA
from tests.ui.visit import address, change, verdict, visit


@pytest.fixture(scope="module")
def opened():
    return visit()


def test_the_answer_is_there_on_load(opened):
    assert re.search(r":material/\w+:", verdict(opened))
    assert len(opened.metric) == 4
    assert all("estimated" in metric.label for metric in opened.metric)
    assert len(opened.get("vega_lite_chart")) == 2
    assert not opened.warning


def test_opening_leaves_the_address_alone(opened):
    assert address(opened) == {}


def test_an_edit_is_in_the_address_and_reopens_the_same():
    page = change(visit(preset="rag_h100"), "workload.input_tokens", 12_500.0)
    query = address(page)
    assert query["preset"] == "rag_h100"
    assert query["workload.input_tokens"] == "12500"
    assert {"v", "hash"} <= set(query)
    again = visit(**query)
    assert verdict(again) == verdict(page)
    assert [m.value for m in again.metric] == [m.value for m in page.metric]
    assert not again.warning


def test_an_estimate_that_cannot_decide_says_so_as_the_shell_does():
    """Nothing is in doubt far from the line; here the estimate alone would say to stay."""
    query = {"preset": "rag_h100", "workload.input_tokens": "1500", "workload.output_tokens": "1500"}
    scenario, _ = apply_settings(load_presets()["rag_h100"].scenario, dict(list(query.items())[1:]))
    told = with_confidence(evaluate(scenario)).verdict
    assert (told.decision, told.leaning) == ("benchmark_first", "stay_colocated")
    page = visit(**query)
    assert "Benchmark first" in verdict(page)
    assert "it leans to staying colocated" in verdict(page)
    assert not any("Stay colocated]:" in words.value for words in page.markdown)


def test_slider_and_box_show_the_same_number():
    page = change(visit(), "workload.output_tokens", 777.0)
    assert page.select_slider(key="slide.workload.output_tokens").value == 777.0
    page.select_slider(key="slide.workload.output_tokens").set_value(1000.0).run()
    assert page.number_input(key="in.workload.output_tokens").value == 1000.0


def test_bandwidth_has_a_slider_that_starts_at_what_the_link_gives():
    page = visit()
    page.session_state["group.network"] = True
    page.run()
    slider, box = "slide.network.nic_gbit_per_s", "in.network.nic_gbit_per_s"
    assert page.select_slider(key=slider).value == "auto"
    page.select_slider(key=slider).set_value(100.0).run()
    assert not page.exception
    assert address(page)["network.nic_gbit_per_s"] == "100"
    assert page.text_input(key=box).value == "100"
    time.sleep(0.6)  # a word back at once would be taken for a browser that has not caught up
    page.text_input(key=box).set_value("auto").run()
    assert "network.nic_gbit_per_s" not in address(page)
    assert page.select_slider(key=slider).value == "auto"


def test_an_input_the_browser_has_not_caught_up_with_undoes_nothing():
    page = visit()
    slider, box = "slide.workload.input_tokens", "in.workload.input_tokens"
    before = page.number_input(key=box).value
    page.select_slider(key=slider).set_value(20_000.0).run()
    page.select_slider(key=slider).set_value(32_000.0)
    page.number_input(key=box).set_value(before)  # sent along by a browser that still shows the old number
    page.run()
    assert page.number_input(key=box).value == 32_000.0
    assert page.select_slider(key=slider).value == 32_000.0
    assert address(page)["workload.input_tokens"] == "32000"


def test_back_brings_the_question_of_that_address():
    page = change(visit(preset="rag_h100"), "workload.input_tokens", 12_500.0)
    asked = verdict(page)
    old = dict(page.query_params)
    change(page, "workload.input_tokens", 500.0)
    page.query_params.clear()
    page.query_params.update(old)
    page.run()
    assert page.number_input(key="in.workload.input_tokens").value == 12_500.0
    assert verdict(page) == asked


def test_back_opens_the_tab_of_that_address():
    page = visit(preset="rag_h100", view="load")
    assert page.session_state["tabs.en"] == "Load"
    page.query_params["view"] = "latency"
    page.run()
    assert page.session_state["tabs.en"] == "Latency"
    del page.query_params["view"]
    page.run()
    assert page.session_state["tabs.en"] == "Simulation"


def test_a_preset_takes_nothing_over_from_before():
    page = change(visit(), "workload.input_tokens", 12_500.0)
    names = page.selectbox(key="in.preset").options
    assert len(names) >= 10
    page.selectbox(key="in.preset").select_index(3).run()
    assert not page.exception
    assert set(address(page)) == {"preset", "v", "hash"}


def test_a_bad_link_opens_and_says_which_keys_and_why():
    page = visit(
        **{"preset": "nope", "workload.input_tokens": "999999999", "foo": "bar", "slo.ttft_s": "nan"}
    )
    said = page.warning[0].value.replace("\\", "")
    for part in (
        "preset = nope",
        "workload.input_tokens = 999999999",
        "2,000,000",
        "foo = bar",
        "slo.ttft_s = nan",
    ):
        assert part in said


def test_a_link_from_another_version_or_preset_is_told():
    page = visit(preset="rag_h100", v="0.0", hash="00000000")
    said = " ".join(w.value for w in page.warning)
    assert "version" in said
    assert "changed" in said


def test_reserved_keys_with_values_there_are_not_are_said():
    said = visit(view="zzz", lang="xx", a="\ufffd").warning[0].value.replace("\\", "")
    for part in (
        "view = zzz: allowed is one of",
        "lang = xx: allowed is one of en, zh",
        "a = \ufffd: allowed",
    ):
        assert part in said
    assert not visit(view="load", lang="en", a="preset=rag_h100", preset="rag_h100").warning


def test_a_links_words_are_never_markup():
    page = visit(**{"foo": "[x](javascript:alert(1)) :red[y] <img src=x>"})
    said = re.sub(r"\\.", "", page.warning[0].value)
    assert not set("[]<>") & set(said)


def test_a_refused_edit_is_said_and_undone():
    page = visit()
    page.session_state["group.workload"] = True
    page.run()
    page.text_input(key="in.workload.input_p95_tokens").set_value("banana").run()
    assert "workload.input_p95_tokens" in page.warning[0].value.replace("\\", "")
    assert page.text_input(key="in.workload.input_p95_tokens").value != "banana"


@pytest.mark.parametrize(
    "group", ["model", "workload", "slo", "colocated", "pools", "network", "engine", "compare"]
)
def test_a_folded_group_opens(group):
    page = visit()
    before = len(page.main)
    page.session_state[f"group.{group}"] = True
    page.run()
    assert not page.exception
    assert before


def test_a_missing_figure_can_be_set_right_there():
    key = "overrides.ascend_910b.memory_bandwidth_gb_per_s"
    page = visit(**{"prefill.accelerator": "ascend_910b", "decode.accelerator": "ascend_910b"})
    said = " ".join(m.value for m in page.markdown).replace("\\", "")
    assert "No published figure for Ascend 910B memory bandwidth (GB/s); set it yourself" in said
    change(page, key, 1600.0)
    assert address(page)[key] == "1600"
    said = " ".join(m.value for m in page.markdown).replace("\\", "")
    assert "No published figure for Ascend 910B memory bandwidth" not in said


def test_a_missing_price_can_be_set_right_there():
    key = "money.usd_per_hour.rtx_pro_5000_48"
    page = visit(**{"model.name": "qwen3_8b", "prefill.accelerator": "rtx_pro_5000_48"})
    said = " ".join(m.value for m in page.markdown).replace("\\", "")
    assert "No published figure for RTX PRO 5000" in said
    change(page, key, 1.5)
    assert address(page)[key] == "1.5"
    said = " ".join(m.value for m in page.markdown).replace("\\", "")
    assert "No published figure for RTX PRO 5000" not in said
    assert any("USD" in m.label for m in page.metric)


def test_the_browsers_language_or_the_links():
    page = visit(lang="zh", preset="short_chat_h100")
    assert "保持同构部署" in verdict(page)
    assert all("估算" in metric.label for metric in page.metric)
    change(page, "workload.output_tokens", 160.0)
    assert address(page)["lang"] == "zh"
    page.button_group(key="in.lang").set_value("en").run()
    assert "Stay colocated" in verdict(page)
    assert address(page)["lang"] == "en"
    assert address(page)["workload.output_tokens"] == "160"


def test_a_first_visit_explains_itself_until_it_is_told_to_stop(opened):
    page = visit()
    assert any("two pools" in caption.value for caption in page.caption)
    page.button(key="intro.dismiss").click().run()
    assert not any("two pools" in caption.value for caption in page.caption)
    assert not any("two pools" in caption.value for caption in visit(preset="rag_h100").caption)


def test_a_pasted_model_is_used_and_left_again():
    page = visit()
    page.session_state["group.model"] = True
    page.run()
    page.text_area(key="model.paste").set_value(json.dumps(LLAMA)).run()
    page.button(key="model.use").click().run()
    assert not page.exception
    assert address(page)["model.architecture.layers"] == "32"
    page.button(key="model.back").click().run()
    assert "model.architecture.layers" not in address(page)
    page.text_area(key="model.paste").set_value("{").run()
    page.button(key="model.use").click().run()
    assert "not JSON" in page.error[0].value
