"""What keeps an instance from running is an answer that names its limit."""

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.efficiency import efficiency_for
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.step import step_time_s
from pdexplorer.scenario.scenario import Scenario


def resolve(accelerator: str = "h100_sxm", **options: object) -> Instance | Infeasible:
    model = str(options.pop("model", "llama_3_1_70b"))
    scenario = Scenario.model_validate({"model": {"name": model, "weight_format": "fp8"}})
    numbers = {"tp": 4, **options}
    return resolve_instance(load_catalog(), scenario, accelerator_id=accelerator, **numbers)  # type: ignore[arg-type]


def test_an_instance_that_runs() -> None:
    found = resolve()
    assert isinstance(found, Instance)
    assert found.gpus == 4


@pytest.mark.parametrize(
    ("options", "limit", "words"),
    [
        ({"accelerator": "ascend_910b"}, "missing_figure", "memory_bandwidth_gb_per_s"),
        ({"tp": 1, "weight_format": "bf16"}, "memory", "would fit"),
        ({"tp": 3}, "parallelism", "does not divide"),
        ({"ep": 2}, "parallelism", "no experts"),
        ({"model": "qwen3_30b_a3b", "ep": 3}, "parallelism", "does not divide"),
        ({"pp": 64, "model": "llama_3_1_8b"}, "parallelism", "exceeds"),
    ],
)
def test_limits(options: dict[str, object], limit: str, words: str) -> None:
    found = resolve(**options)
    assert isinstance(found, Infeasible)
    assert found.limit == limit
    assert words in found.text
    assert "\n" not in found.text


def test_a_figure_given_by_the_user_is_used() -> None:
    figures = {"memory_bandwidth_gb_per_s": 1600, "memory_gb": 64, "scale_up_gb_per_s_per_direction": 56}
    catalog = load_catalog().with_overrides({"ascend_910b": figures})
    scenario = Scenario.model_validate({"model": {"name": "llama_3_1_8b", "weight_format": "bf16"}})
    found = resolve_instance(catalog, scenario, accelerator_id="ascend_910b", tp=2)
    assert isinstance(found, Instance)


@pytest.mark.parametrize(
    ("key", "value"), [("accelerator", "h1000"), ("model", "llama_9"), ("weight_format", "fp3")]
)
def test_unknown_names_are_errors_that_name_what_is_allowed(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=value) as caught:
        resolve(**{key: value})
    assert "\n" not in str(caught.value)


def test_what_nobody_measured_says_so() -> None:
    found = resolve("h20_96", tp=8)
    assert isinstance(found, Instance)
    assert {fit.kind for fit in found.efficiency.fits} == {"assumed"}
    assert "not measured on h20_96" in found.efficiency.gemm.fit.source
    measured = resolve("h100_sxm")
    assert isinstance(measured, Instance)
    assert measured.efficiency.gemm.fit.kind == "fitted"


def test_a_power_cap_slows_prompts_and_hardly_tokens() -> None:
    free, capped = resolve(), resolve(clock_ratio=0.6)
    assert isinstance(free, Instance)
    assert isinstance(capped, Instance)
    prompt = [step_time_s(one, prefill_tokens=8192) for one in (free, capped)]
    token = [step_time_s(one, decode_batch=16, decode_context_tokens=2000) for one in (free, capped)]
    assert 1.3 < prompt[1] / prompt[0] < 1 / 0.6
    assert 1.0 <= token[1] / token[0] < 1.02


def test_experts_in_int4_take_the_nearest_kernels_that_widen_too() -> None:
    accelerator = load_catalog().accelerators["b200_sxm"]
    taken = {
        fmt: efficiency_for(
            accelerator, "vllm", dense_format="bf16", expert_format=fmt, kv_format="bf16", attention="gqa"
        ).experts
        for fmt in ("bf16", "int4", "mxfp4")
    }
    assert taken["int4"].mfu == taken["mxfp4"].mfu != taken["bf16"].mfu
