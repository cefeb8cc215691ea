"""A fleet that is called feasible holds the SLO in the whole number it is reported in."""

import math

import pytest

from pdexplorer.metrics.outcome import Outcome
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import Evaluation, evaluate


def test_more_decodes_than_the_token_budget_do_not_mislead_the_search() -> None:
    """Where decodes fill the budget, the closed form's rate rises though no prompt gets through."""
    for preset, key, value in (
        ("all_h200", "colocated.max_batch", "1024"),
        ("one_box_8_h100", "colocated.max_batch", "512"),
    ):
        answer = _evaluated(preset, {key: value})
        assert answer.colocated.feasible
        _holds(answer, answer.colocated)
        assert answer.colocated.utilisation is not None
        assert answer.colocated.utilisation["kv_memory"] < 1.0
        assert answer.colocated.utilisation["prefill_queue"] < 1.0


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("agent_long_context", {"compare.basis": "equal_gpus"}),
        (
            "agent_long_context",
            {
                "model.name": "deepseek_v2_lite",
                "workload.prefix_hit_fraction": "0",
                "slo.ttft_s": "1.75",
                "colocated.accelerator": "rtx_pro_5000_72",
                "compare.basis": "most_goodput",
            },
        ),
        ("rag_h100", {"workload.arrivals": "closed_loop"}),
        ("rag_h100", {"workload.arrivals": "closed_loop", "workload.output_tokens": "1"}),
    ],
)
def test_both_fleets_hold_the_slo_at_the_load_they_are_shown_at(preset: str, changes: dict[str, str]) -> None:
    answer = _evaluated(preset, changes)
    assert answer.disaggregated.feasible
    for side in (answer.colocated, answer.disaggregated):
        if side.feasible:
            _holds(answer, side)


@pytest.mark.parametrize(
    "changes",
    [
        {"slo.e2e_s": "9"},
        {"slo.e2e_s": "20"},
        {"slo.e2e_s": "12", "slo.ttft_s": "none", "slo.tpot_ms": "none"},
        {"slo.e2e_s": "12", "network.first_token_from": "prefill"},
    ],
)
def test_a_limit_on_the_whole_request_is_met_by_smaller_batches(changes: dict[str, str]) -> None:
    """Decode at its largest batch within TPOT alone would leave prefill no way to meet it."""
    answer = _evaluated("rag_h100", changes)
    for side in (answer.colocated, answer.disaggregated):
        assert side.feasible
        _holds(answer, side)


@pytest.mark.parametrize(
    "changes",
    [
        {"workload.rate_per_s": "40", "compare.basis": "fixed_fleets"},
        {"workload.arrivals": "closed_loop", "workload.concurrency": "400", "compare.basis": "fixed_fleets"},
        {"workload.arrivals": "closed_loop", "workload.concurrency": "400", "compare.basis": "equal_gpus"},
    ],
)
def test_given_fleets_asked_too_much_say_what_they_carry(changes: dict[str, str]) -> None:
    pools = {"prefill.instances": "2", "decode.instances": "1", "colocated.instances": "2"}
    answer = _evaluated("rag_h100", changes | (pools if "fixed_fleets" in changes.values() else {}))
    for side in (answer.colocated, answer.disaggregated):
        assert not side.feasible
        assert side.infeasible is not None
        assert side.infeasible.limit == "capacity"
    assert answer.verdict.decision == "infeasible"


def test_prefill_instances_have_room_for_the_prompts_of_the_load() -> None:
    """One H100 holds about 9,000 tokens beside a 70B model in fp8, of prompts of 24,000 on average."""
    answer = _evaluated("long_summaries", {})
    assert answer.disaggregated.feasible
    assert answer.disaggregated.design is not None
    assert answer.disaggregated.design["prefill_tp"] != 1
    pinned = _evaluated("long_summaries", {"prefill.tp": "1"}).disaggregated
    assert pinned.infeasible is not None
    assert pinned.infeasible.limit == "kv_memory"


def test_the_least_load_is_served_as_asked_by_the_smallest_fleets() -> None:
    answer = _evaluated("rag_h100", {"workload.rate_per_s": "1e-6"})
    one, other = answer.colocated, answer.disaggregated
    for side in (one, other):
        assert side.throughput_per_s == pytest.approx(1e-6, rel=1e-6)
    assert one.cost_usd_per_hour is not None
    assert other.cost_usd_per_hour is not None
    assert answer.verdict.ratios.cost == pytest.approx(one.cost_usd_per_hour / other.cost_usd_per_hour)


def test_a_budget_below_one_instance_names_what_it_does_not_pay_for() -> None:
    answer = _evaluated("rag_h100", {"compare.basis": "most_goodput", "compare.budget_usd_per_hour": "0.01"})
    assert answer.colocated.infeasible is not None
    assert answer.disaggregated.infeasible is not None
    assert answer.colocated.infeasible.text == "0.01 USD an hour does not pay for one instance"
    assert answer.disaggregated.infeasible.text.endswith("for one instance of each pool")


def _evaluated(preset: str, changes: dict[str, str]) -> Evaluation:
    scenario, refused = apply_settings(load_presets()[preset].scenario, changes)
    assert not refused
    return evaluate(scenario, with_break_even=False)


def _holds(answer: Evaluation, side: Outcome) -> None:
    assert side.attainment_fraction is not None
    assert side.attainment_fraction >= answer.scenario.slo.percentile / 100.0 - 0.001
    assert side.ttft_s is not None
    assert math.isfinite(side.ttft_s.p99)
