"""Reasons are causes, on the decision's side first, and carry what another language needs."""

import json

import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.reason_words import reason_text
from tests.study.test_signs import LONG_TIGHT

SHORT_CHAT = {
    "model": {"name": "llama_3_1_8b", "weight_format": "bf16"},
    "workload": {"input_tokens": 200, "output_tokens": 150, "rate_per_s": 60},
}
CASES = [LONG_TIGHT, SHORT_CHAT, {"workload": {"mode": "offline"}}, {"slo": {"tpot_ms": None}}]


@pytest.mark.parametrize("settings", CASES)
def test_reasons_are_short_causes_with_their_numbers(settings):
    verdict = evaluate(Scenario.model_validate(settings), with_break_even=False).verdict
    assert verdict.reasons
    for reason in verdict.reasons:
        assert reason.favours in ("disaggregated", "colocated")
        assert reason.text == reason_text(reason.key, reason.parameters)
        assert len(reason.text.split()) <= 26
        assert "$" not in reason.text
        assert reason.key not in ("price", "gpus", "ttft")
        json.dumps(reason.to_json(), allow_nan=False)


def test_reasons_for_the_decision_come_first_and_by_weight():
    verdict = evaluate(Scenario.model_validate(LONG_TIGHT), with_break_even=False).verdict
    assert verdict.decision == "disaggregate"
    sides = [reason.favours for reason in verdict.reasons]
    assert sides == sorted(sides, reverse=True)
    supporting = [r.weight for r in verdict.reasons if r.favours == "disaggregated"]
    assert supporting == sorted(supporting, reverse=True)


def test_a_side_that_cannot_is_named_with_its_limit():
    scenario = Scenario.model_validate({**LONG_TIGHT, "slo": {"ttft_s": 0.05}})
    keys = {r.key: r for r in evaluate(scenario, with_break_even=False).verdict.reasons}
    assert keys["colocated_cannot"].parameters["limit"] == "ttft"


def test_a_dearer_accelerator_is_a_cause_where_the_fleets_differ():
    settings = {"prefill": {"accelerator": "h200_sxm"}, "compare": {"accelerators": ("h100_sxm",)}}
    reasons = evaluate(Scenario.model_validate(settings), with_break_even=False).verdict.reasons
    price = next(r for r in reasons if r.key == "hardware_price")
    assert price.favours == "colocated"
    assert price.parameters["split_usd_per_hour"] > price.parameters["colocated_usd_per_hour"]
