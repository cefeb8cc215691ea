import re

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study import words
from pdexplorer.study.checklist import checklist
from pdexplorer.study.compare import evaluate
from pdexplorer.study.faults import FaultRow
from pdexplorer.texts.chinese_sentences import in_chinese

LIMITS = [
    words.nothing_fits(),
    words.ttft_alone(10.5, 2.0, 0.95),
    words.tpot_alone(0.041, 0.025, 0.95),
    words.e2e_alone(20.0, 0.95),
    words.memory_alone(128_000),
    words.nothing_to_spare(0.646, 0.676, 0.012, 0.025),
    words.too_few(3.1, 8.0, 1, False),
    words.too_few(3.1, 8.0, 2, True),
    words.budget_too_small(1, False),
    words.pool_too_few("prefill", 3.1, 8.0, 2),
    words.budget_too_small(2.5, True),
    words.budget_too_small(3, False),
    words.ttft_share(0.912, 2.0, 0.95),
    words.together_alone(0.93, 0.96, 0.97, 0.95),
    words.pools_too_few(2, 1, 3.1, 8.0),
    words.pools_in_flight(2, 1, 64),
]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.text[:40])
def test_every_limit_of_a_fleet_is_known(limit):
    said = in_chinese(limit.text)
    assert re.search("[\u4e00-\u9fff]", said)
    for figure in re.findall(r"\d[\d.,]*", limit.text):
        assert figure.rstrip(".,") in said


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("slo.ttft_s", "banana"),
        ("workload.input_tokens", "999999999"),
        ("workload.mode", "online?"),
        ("network.layerwise_overlap", "perhaps"),
        ("money.currency", "dollars"),
        ("network.link", "roce_40"),
        ("foo.bar", "1"),
    ],
)
def test_a_refused_setting_is_told_in_chinese(key, value):
    scenario = load_presets()["rag_h100"].scenario
    _, refused = apply_settings(scenario, {key: value})
    said = in_chinese(refused[0].text)
    assert said.startswith(f"{key} = {value}：")
    assert not re.search(r"allowed|number|above|such|close|one of", said)


def test_what_a_fault_costs_is_told_in_chinese():
    row = FaultRow("decode_down", "disaggregated", 0.99, 0.9, 54, 0.09, 3, 2.0, "")
    cost = next(item.cost for item in checklist((row,)) if item.cost)
    assert in_chinese(cost) == "9.0% 的请求不再达标；达标率 99.0% → 90.0%。"


def test_what_is_not_known_stays_as_it_is():
    assert in_chinese("something nobody wrote") == "something nobody wrote"
    assert in_chinese("slo.ttft_s = \\1 {\\2}: allowed is a text") != ""


@pytest.mark.parametrize(
    ("key", "value"),
    [("decode.accelerator", "rtx4090"), ("decode.accelerator", "m3_ultra"), ("engine.profile", "vllm_2023")],
)
def test_whose_numbers_an_accelerator_uses_is_told_in_chinese(key, value):
    scenario, refused = apply_settings(load_presets()["short_chat_h100"].scenario, {key: value})
    assert not refused
    lines = [line for line in evaluate(scenario, with_break_even=False).sources if ", none)" in line]
    assert lines
    for line in lines:
        said = in_chinese(line.partition(", none): assumed, ")[2])
        assert "直接用内核时间" in said
