"""What must come out whatever the fitted numbers: public reports and plain arithmetic."""

from typing import Any

import pytest

from pdexplorer.evidence.published import load_published
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate

LONG_TIGHT = {
    "model": {"name": "llama_3_1_70b", "weight_format": "fp8"},
    "workload": {"input_tokens": 8000, "output_tokens": 300, "rate_per_s": 8},
    "slo": {"ttft_s": 2, "tpot_ms": 25},
    "network": {"link": "roce_400"},
}


SAME_TP = {"colocated": {"tp": 4}, "prefill": {"tp": 4}, "decode": {"tp": 4}}


def answer(*changes: dict[str, dict[str, Any]]) -> Evaluation:
    merged: dict[str, dict[str, Any]] = {}
    for change in changes:
        for block, values in change.items():
            merged[block] = {**merged.get(block, {}), **values}
    return evaluate(Scenario.model_validate(merged), with_break_even=False)


def gain(evaluation: Evaluation) -> float:
    value = evaluation.verdict.ratios.goodput_per_dollar
    assert value is not None
    return value


def test_tight_tpot_long_prompts_and_rdma_pay() -> None:
    evaluation = answer(LONG_TIGHT)
    assert evaluation.verdict.decision == "disaggregate"
    assert gain(evaluation) > 1.3


def test_short_chat_stays_colocated() -> None:
    chat = {
        "model": {"name": "llama_3_1_8b", "weight_format": "bf16"},
        "workload": {"input_tokens": 200, "output_tokens": 150, "rate_per_s": 60},
    }
    for rate in (5, 60, 1000):
        assert answer(chat, {"workload": {"rate_per_s": rate}}).verdict.decision == "stay_colocated"


def test_offline_batch_on_one_gpu_type_never_splits() -> None:
    for tokens, output in ((500, 20), (8000, 300), (30000, 2000)):
        batch = {"workload": {"mode": "offline", "input_tokens": tokens, "output_tokens": output}}
        assert answer(batch).verdict.decision != "disaggregate"
        assert 0.85 < gain(answer(batch, SAME_TP)) < 1.0


def test_without_a_latency_limit_it_does_not_pay() -> None:
    """Public reports say 0.95 to 0.99, with one parallelism for all. Free to prefill on few GPUs and
    decode on many, the split gains a little: an all-reduce costs prefill more than decode.
    """
    no_limit = {"slo": {"ttft_s": "none", "tpot_ms": "none"}}
    assert 0.9 < gain(answer(LONG_TIGHT, no_limit, SAME_TP)) < 1.0
    # fp8 weights leave one card 5 GB: enough for a prompt, too little to decode, so only the split uses it.
    assert answer(LONG_TIGHT, no_limit).verdict.decision != "disaggregate"


def test_the_gain_falls_as_the_tpot_limit_relaxes() -> None:
    gains = [gain(answer(LONG_TIGHT, {"slo": {"tpot_ms": limit}})) for limit in (20, 30, 60, 200)]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < 1.1


def test_with_most_of_the_prompt_cached_splitting_stops_paying() -> None:
    hits = (0.0, 0.5, 0.9, 0.975, 0.99)  # the gain crosses 1.1 at 97.0% cached
    answers = [answer(LONG_TIGHT, {"workload": {"prefix_hit_fraction": hit}}) for hit in hits]
    gains = [gain(evaluation) for evaluation in answers]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 1.5
    assert gains[3] < 1.1
    assert gains[-1] < 1.0
    assert [evaluation.verdict.decision for evaluation in answers[-2:]] == ["stay_colocated"] * 2


def test_tcp_fallback_hurts() -> None:
    fallback = answer(LONG_TIGHT, {"network": {"link": "tcp_fallback"}})
    assert not fallback.disaggregated.feasible or gain(fallback) < 0.5 * gain(answer(LONG_TIGHT))


def test_a_one_to_one_split_of_an_unbalanced_load_hurts() -> None:
    pinned = {
        "workload": {"input_tokens": 1000, "output_tokens": 1000, "rate_per_s": 2},
        "prefill": {"instances": 1, "tp": 4},
        "decode": {"instances": 1, "tp": 4},
        "compare": {"basis": "fixed_fleets"},
        "colocated": {"instances": 2, "tp": 4},
    }
    assert gain(answer(pinned)) < 0.9


def test_more_prefill_never_shortens_a_lone_prompt() -> None:
    alone = {"workload": {"rate_per_s": 0.001}, "prefill": {"tp": 4}, "decode": {"tp": 4, "instances": 1}}
    times = [answer(alone, {"prefill": {"instances": count}}).disaggregated.ttft_s for count in (1, 4)]
    assert times[0] is not None
    assert times[1] is not None
    assert times[1].p50 == pytest.approx(times[0].p50, rel=1e-3)


def test_one_request_alone_over_the_limit_is_named() -> None:
    # TP1 misses the TPOT limit too, but that by a little and the TTFT limit by far.
    evaluation = answer(LONG_TIGHT, {"slo": {"ttft_s": 0.05}})
    assert evaluation.verdict.decision == "infeasible"
    assert evaluation.colocated.infeasible is not None
    assert evaluation.colocated.infeasible.limit == "ttft"
    assert "no number of instances helps" in evaluation.verdict.sentence


def test_qwen3_32b_on_h200_gains_less_as_the_tpot_limit_relaxes_and_ends_at_a_loss() -> None:
    h200 = {"accelerator": "h200_sxm"}
    qwen = {
        "model": {"name": "qwen3_32b", "weight_format": "fp8"},
        "workload": {"input_tokens": 4000, "output_tokens": 500, "rate_per_s": 24},
        "colocated": h200,
        "prefill": h200,
        "decode": h200,
    }
    fixed = {"workload": {"input_distribution": "fixed", "output_distribution": "fixed"}}
    gains = [gain(answer(qwen, fixed, {"slo": {"tpot_ms": limit}})) for limit in (10, 15, 20, 30, 50, 100)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 1.5
    assert gains[-1] < 1.0


def test_on_a_conversation_trace_the_gain_shrinks_as_the_gap_limit_relaxes() -> None:
    """Published: +498%, +157% and +59% over an unchunked engine at 100, 200 and 300 ms."""
    cases = {case.id: case for case in load_published()}
    for trace in ("R023", "R025"):
        ratios = []
        for limit_ms in (100, 200, 300):
            verdict = evaluate(cases[f"{trace}_tbt{limit_ms}"].scenario, with_break_even=False).verdict
            assert verdict.ratio is not None
            ratios.append(verdict.ratio)
        assert ratios == sorted(ratios, reverse=True)
        assert ratios[0] > 1.5
        assert ratios[-1] > 1.0
