"""Serving ratios change groups of kernels, and nothing where an engine has no CUDA graphs."""

from dataclasses import replace

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.efficiency import load_efficiencies
from pdexplorer.physics.formats import weight_formats
from pdexplorer.physics.instance import Instance, Parallelism, build_instance
from pdexplorer.physics.plan import compile_plan
from pdexplorer.physics.scaled_plan import scale_plan
from pdexplorer.physics.serving import (
    GRAPH_LAUNCH_S,
    NUMBERS,
    KernelRatios,
    ServingRatios,
    in_serving,
    load_serving_ratios,
    model_class,
)
from pdexplorer.physics.step import step_time_s

from .conftest import Make


def test_neutral_ratios_only_bound_launches(make: Make) -> None:
    instance = make("h100_sxm", "llama_3_1_8b")
    served = in_serving(instance, ServingRatios())
    assert served.efficiency.gemm.launch_s <= GRAPH_LAUNCH_S
    assert step_time_s(served, decode_batch=8, decode_context_tokens=1000) == step_time_s(
        instance, decode_batch=8, decode_context_tokens=1000
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_a_slower_group_slows_a_step(make: Make, name: str) -> None:
    instance = make("h200_sxm", "qwen3_30b_a3b", tp=2, ep=2)
    slow = in_serving(instance, ServingRatios(KernelRatios(**{name: 2.0})))
    plain = in_serving(instance, ServingRatios())

    def step(served: object) -> float:
        return float(
            step_time_s(served, prefill_tokens=4096, decode_batch=32, decode_context_tokens=1000)  # type: ignore[arg-type]
        )

    assert step(plain) < step(slow) < 2 * step(plain)


def test_a_fit_scales_plans_as_serving_compiles_them(make: Make) -> None:
    ratios = KernelRatios(*(1.1 + 0.1 * place for place in range(len(NUMBERS))), 1.3)
    for model in ("llama_3_1_8b", "gpt_oss_120b"):
        instance = make("h100_sxm", model, tp=4)
        neutral = compile_plan(in_serving(instance, ServingRatios()))
        served = compile_plan(in_serving(instance, ServingRatios(ratios)))
        scaled = scale_plan(neutral, ratios)
        for name in ("dense_launch_s", "dense_weights_s", "expert_weights_s", "prefill_pair_full_s"):
            assert getattr(scaled, name) == pytest.approx(getattr(served, name))
        for name in ("decode_context_full_s", "decode_sequence_s", "head_compute_s", "element_token_s"):
            assert getattr(scaled, name) == pytest.approx(getattr(served, name))
        assert scaled.reduce_step is not None
        assert served.reduce_step is not None
        assert scaled.reduce_step.bandwidth_s == pytest.approx(served.reduce_step.bandwidth_s)


def test_compute_is_slower_where_its_format_is(make: Make) -> None:
    instance = make("h100_sxm", "llama_3_1_8b")
    slow = ServingRatios(KernelRatios(cache=1.5), compute_by_format={"hopper bf16": 2.0, "ada fp8": 3.0})
    assert (slow.of(instance).compute, slow.of(instance).cache) == (2.0, 1.5)
    assert slow.of(make("rtx4090", "llama_3_1_8b")).compute == 1.0


def test_a_family_without_serving_runs_keeps_its_tables(make: Make) -> None:
    ratios = ServingRatios(KernelRatios(cache=1.5), compute_by_format={"hopper bf16": 2.0})
    assert ratios.of(make("rtx4090", "llama_3_1_8b")) == KernelRatios()


def test_the_shipped_ratios_say_where_they_come_from() -> None:
    ratios = load_serving_ratios()
    assert ratios.kind == "fitted"
    assert ratios.source
    assert ratios.points > 1000
    assert 0 < ratios.median_error_fraction < ratios.p90_error_fraction
    assert ratios.count < 50


def test_a_class_of_models_and_an_engine_have_factors_of_their_own(make: Make) -> None:
    ratios = ServingRatios(by_class={"experts": {"cache": 1.5}}, overhead={"vllm experts": 3.0})
    experts, dense = (make("h100_sxm", model) for model in ("gpt_oss_120b", "llama_3_1_8b"))
    assert (ratios.of(experts).cache, ratios.of(experts).overhead) == (1.5, 3.0)
    assert (ratios.of(dense).cache, ratios.of(dense).overhead) == (1.0, 1.0)
    served = in_serving(experts, ratios)
    assert served.engine.step_overhead_s == pytest.approx(3.0 * experts.engine.step_overhead_s)


def test_an_overhead_of_cuda_graphs_is_not_that_of_an_eager_engine(make: Make) -> None:
    ratios = ServingRatios(overhead={"vllm dense": 3.0})
    graphs = make("h100_sxm", "llama_3_1_8b")
    eager = replace(graphs, engine=replace(graphs.engine, layer_overhead_s=1e-4))
    assert (ratios.of(graphs).overhead, ratios.of(eager).overhead) == (3.0, 1.0)


def test_no_ratio_takes_a_kernel_past_its_chips_peak(make: Make) -> None:
    fast = ServingRatios(KernelRatios().times(0.01))
    e = in_serving(make("b200_sxm", "gpt_oss_120b", tp=2), fast).efficiency
    shares = (e.gemm.mfu, e.gemm.mbu, e.head.mbu, e.experts.mfu, e.experts.mbu, e.attention.prefill_mfu)
    assert max(*shares, e.attention.decode_mbu, e.collective.bandwidth_fraction) == pytest.approx(1.0)
    assert max(shares) <= 1.0 + 1e-12


def test_the_shipped_ratios_keep_every_measured_chip_below_its_peak() -> None:
    catalog = load_catalog()
    measured = {entry.fit.accelerator for part in load_efficiencies().values() for entry in part}
    for name in sorted(measured & set(catalog.accelerators)):
        for model in ("llama_3_1_70b", "gpt_oss_120b", "deepseek_v3"):
            for form in weight_formats():
                instance = build_instance(
                    catalog.accelerators[name],
                    catalog.models[model],
                    Parallelism(8),
                    form,
                    "fp8",
                    catalog.engines["vllm"],
                )
                if not isinstance(instance, Instance):
                    continue
                e = in_serving(instance).efficiency
                shares = (e.gemm.mfu, e.gemm.mbu, e.experts.mfu, e.experts.mbu, e.attention.prefill_mfu)
                assert max(*shares, e.attention.decode_mbu) <= 1.0 + 1e-12, (name, model, form)


def test_every_model_is_of_a_class_that_was_fitted() -> None:
    assert {model_class(a) for a in load_catalog().models.values()} <= set(load_serving_ratios().by_class)
