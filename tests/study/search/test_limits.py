"""Where nothing can serve, the limit that is named is the one of the design that comes closest."""

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import Evaluation, evaluate


def test_a_figure_that_blocks_larger_instances_comes_before_what_does_not_fit_on_the_smallest() -> None:
    base = load_presets()["ascend_910b"].scenario
    answer = _evaluated(base, {"overrides.ascend_910b.memory_bandwidth_gb_per_s": "1600"})
    for side in (answer.colocated, answer.disaggregated):
        assert side.infeasible is not None
        assert side.infeasible.limit == "missing_figure"
        assert "overrides.ascend_910b.scale_up_gb_per_s_per_direction" in side.infeasible.text


def test_where_only_the_link_is_too_slow_the_link_is_named() -> None:
    base = load_presets()["rag_h100"].scenario
    answer = _evaluated(base, {"network.oversubscription_ratio": "32"})
    assert answer.disaggregated.infeasible is not None
    assert answer.disaggregated.infeasible.limit == "link"
    assert _evaluated(base, {"network.oversubscription_ratio": "1"}).disaggregated.feasible


@pytest.mark.filterwarnings("error")
def test_the_largest_prefill_batch_serves_as_a_large_one_does() -> None:
    base = load_presets()["rag_h100"].scenario
    large, largest = (
        _evaluated(base, {"engine.prefill_batch_tokens": tokens}) for tokens in ("65536", "1000000")
    )
    assert largest.disaggregated.feasible
    assert largest.verdict.ratio == pytest.approx(large.verdict.ratio, rel=0.1)


def test_too_few_gpus_are_told_in_words_that_fit_their_number() -> None:
    base = load_presets()["rag_h100"].scenario
    answer = _evaluated(base, {"compare.basis": "equal_gpus", "compare.gpus": "2"})
    assert answer.disaggregated.infeasible is not None
    assert answer.disaggregated.infeasible.text == "2 GPUs are too few for one instance of each pool"


HEAVY_TAILS = {
    "model.name": "llama_3_1_70b",
    "prefill.weight_format": "fp8",
    "decode.weight_format": "fp8",
    "prefill.accelerator": "h100_sxm",
    "decode.accelerator": "h100_sxm",
    "network.link": "roce_400",
    "workload.input_tokens": "8000",
    "workload.output_tokens": "300",
    "workload.input_distribution": "heavy_tail",
    "workload.output_distribution": "heavy_tail",
    "slo.ttft_s": "2",
    "slo.tpot_ms": "25",
}


@pytest.mark.parametrize("percentile", ["95", "96", "97"])
def test_what_can_be_served_at_a_high_load_can_be_at_a_low_one(percentile: str) -> None:
    """A long prompt takes most of the misses the SLO leaves; a decode pool with fewer takes the rest."""
    for rate in ("1", "8", "20"):
        changes = HEAVY_TAILS | {"slo.percentile": percentile, "workload.rate_per_s": rate}
        answer = _evaluated(Scenario(), changes)
        assert answer.disaggregated.feasible, rate
        # one H100 beside a 70B model in fp8 holds less than the longest of these prompts, at any load
        roomy = [
            c for c in answer.candidates if 1 not in (c.design.get("prefill_tp"), c.design.get("decode_tp"))
        ]
        limits = [c.limit for c in roomy if c.limit is not None]
        assert not any(limit.limit == "kv_memory" for limit in limits)


def test_the_best_design_says_why_none_can() -> None:
    answer = _evaluated(Scenario(), HEAVY_TAILS | {"slo.percentile": "99"})
    for side, name in ((answer.colocated, "tp"), (answer.disaggregated, "prefill_tp")):
        limits = {c.design.get(name): c.limit for c in answer.candidates if c.limit is not None}
        assert side.infeasible is not None
        assert side.infeasible == limits[8]


def test_without_a_limit_on_the_whole_request_none_is_named() -> None:
    for percentile in ("95", "96", "97", "98", "99"):
        for ttft in ("1", "1.5", "1.8", "2"):
            answer = _evaluated(Scenario(), HEAVY_TAILS | {"slo.percentile": percentile, "slo.ttft_s": ttft})
            assert not any(c.limit.limit == "e2e" for c in answer.candidates if c.limit is not None)


def _evaluated(base: Scenario, changes: dict[str, str]) -> Evaluation:
    scenario, refused = apply_settings(base, changes)
    assert not refused
    return evaluate(scenario, with_break_even=False)


def test_a_split_that_holds_its_limits_only_alone_is_not_told_to_lack_memory() -> None:
    scenario, _ = apply_settings(load_presets()["rag_h100"].scenario, {"slo.ttft_s": "0.676"})
    found = evaluate(scenario, with_break_even=False).disaggregated.infeasible
    assert found is not None
    assert found.limit == "ttft"
    assert "just holds the limits" in found.text
