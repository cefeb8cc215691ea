"""Serving ratios change fixed times and experts, and nothing where an engine has no CUDA graphs."""

from pdexplorer.physics.serving import CLASSES, GRAPH_LAUNCH_S, ServingRatios, in_serving, load_serving_ratios
from pdexplorer.physics.step import step_time_s

from .conftest import Make


def test_neutral_ratios_only_bound_launches(make: Make) -> None:
    instance = make("h100_sxm", "llama_3_1_8b")
    served = in_serving(instance, ServingRatios())
    assert served.efficiency.gemm.launch_s <= GRAPH_LAUNCH_S
    assert step_time_s(served, decode_batch=8, decode_context_tokens=1000) == step_time_s(
        instance, decode_batch=8, decode_context_tokens=1000
    )


def test_slower_experts_slow_a_step(make: Make) -> None:
    instance = make("h200_sxm", "qwen3_30b_a3b")
    plain = step_time_s(in_serving(instance, ServingRatios()), decode_batch=32, decode_context_tokens=1000)
    slow = in_serving(instance, ServingRatios(expert_weights_ratio=2.0))
    assert step_time_s(slow, decode_batch=32, decode_context_tokens=1000) > 1.2 * plain


def test_every_class_says_where_its_ratios_come_from() -> None:
    for name in CLASSES:
        ratios = load_serving_ratios()[name]
        assert ratios.kind == "fitted"
        assert ratios.source
        assert ratios.points > 100
        assert 0 < ratios.median_error_fraction < ratios.p90_error_fraction
