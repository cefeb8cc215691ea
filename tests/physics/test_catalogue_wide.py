"""Every accelerator and model of the catalogue gives a finite time or an answer that names its limit."""

import math

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.formats import weight_formats
from pdexplorer.physics.instance import Parallelism, build_instance
from pdexplorer.physics.memory import kv_capacity_tokens
from pdexplorer.physics.step import step_time_s

CATALOG = load_catalog()


@pytest.mark.parametrize("accelerator", CATALOG.accelerators)
def test_every_accelerator(accelerator: str) -> None:
    for weights in weight_formats():
        instance = build_instance(
            CATALOG.accelerators[accelerator],
            CATALOG.models["llama_3_1_8b"],
            Parallelism(1),
            weights,
            "bf16",
            CATALOG.engines["vllm"],
        )
        if isinstance(instance, Infeasible):
            assert instance.limit == "missing_figure"
            assert accelerator in instance.text
            continue
        seconds = step_time_s(instance, prefill_tokens=1000, decode_batch=8, decode_context_tokens=2000)
        assert 1e-3 < seconds < 20.0


@pytest.mark.parametrize("model", CATALOG.models)
def test_every_model(model: str) -> None:
    architecture = CATALOG.models[model]
    tp = math.gcd(8, architecture.heads)
    ep = tp if architecture.experts else 1
    instance = build_instance(
        CATALOG.accelerators["b200_sxm"],
        architecture,
        Parallelism(tp=tp, ep=ep),
        "fp8",
        "fp8",
        CATALOG.engines["sglang"],
    )
    assert not isinstance(instance, Infeasible)
    seconds = step_time_s(instance, prefill_tokens=8192, decode_batch=64, decode_context_tokens=4096)
    assert math.isfinite(seconds)
    assert 5e-3 < seconds < 3.0
    capacity = kv_capacity_tokens(instance)
    assert isinstance(capacity, Infeasible) or capacity > 10_000


@pytest.mark.parametrize("engine", CATALOG.engines)
def test_every_engine_adds_its_time(engine: str) -> None:
    instance = build_instance(
        CATALOG.accelerators["h100_sxm"],
        CATALOG.models["llama_3_1_8b"],
        Parallelism(1),
        "bf16",
        "bf16",
        CATALOG.engines[engine],
    )
    assert not isinstance(instance, Infeasible)
    load = {"decode_batch": 4, "decode_context_tokens": 1000}
    added = step_time_s(instance, **load) - step_time_s(instance, **load, overhead=False)
    profile = CATALOG.engines[engine]
    assert added == pytest.approx(profile.step_overhead_s + 32 * profile.layer_overhead_s)
