"""Admission, requests' own cost and drafts: what a run's times hold besides the steps of its engine."""

from dataclasses import replace

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence.serving_points import ServingPoint, parse_serving
from pdexplorer.evidence.serving_predict import Served, ServingNumbers, pool_instance, with_waits
from pdexplorer.evidence.serving_setup import draft_host_s, drafts
from pdexplorer.evidence.serving_sglang import drafting
from pdexplorer.evidence.serving_waits import (
    company,
    drafted_ms,
    request_keys,
    tokens_per_step,
    waited_steps,
)
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.serving import ServingRatios

from .test_serving_points import ROW


def point(**cells: str) -> ServingPoint:
    return parse_serving(1, {**ROW, **cells})


def test_a_polled_prompt_waits_half_the_interval() -> None:
    assert waited_steps(point(), load_catalog()) == 15.0
    few = point(silicon_data_source="x; silicon_concurrency=4")
    assert waited_steps(few, load_catalog()) == 5.0


def test_a_prompt_alone_waits_for_company_in_vain() -> None:
    row = {"model_path": "meta-llama/Llama-3.1-70B", "backend": "trtllm", "tp_size": "2", "moe_tp_size": "2"}
    alone = point(**row, silicon_data_source="x; silicon_concurrency=1")
    assert company(alone, load_catalog()) == 0.0
    assert waited_steps(alone, load_catalog()) == 20.0
    many = point(**row, silicon_data_source="x; silicon_concurrency=512")
    assert 10.0 < waited_steps(many, load_catalog()) < 12.0
    assert waited_steps(point(**{**row, "tp_size": "8"}), load_catalog()) == 0.0


def test_each_draft_needs_all_before_it() -> None:
    assert tokens_per_step(0, 0.7) == 1.0
    assert tokens_per_step(1, 0.7) == pytest.approx(1.7)
    assert tokens_per_step(3, 0.7) == pytest.approx(1 + 0.7 + 0.49 + 0.343)


def test_waits_are_added_and_steps_divided() -> None:
    catalog = load_catalog()
    row = point(
        backend="trtllm", silicon_data_source="1.2.0rc6.post3; silicon_concurrency=16; measured=2026-02-05"
    )
    numbers = ServingNumbers(ServingRatios(), {request_keys(row, catalog)[0]: 0.1}, 0.5, {})
    served = with_waits(row, Served(200.0, 10.0, ""), catalog, numbers)
    assert served.ttft_ms == pytest.approx(300.0)
    assert served.tpot_ms is not None
    # Three drafts at one half yield 1.875 tokens of a step that verifying makes longer.
    assert 10.0 / 1.875 < served.tpot_ms < 10.0


def test_drafts_shorten_no_interruption() -> None:
    catalog = load_catalog()
    row = point(
        backend="trtllm", silicon_data_source="1.2.0rc6.post3; silicon_concurrency=16; measured=2026-02-05"
    )
    assert row.colocated is not None
    instance = pool_instance(row, row.colocated, catalog, ServingRatios())
    assert not isinstance(instance, Infeasible)
    # Both hold more than a decode step; TTFT is left out, so that the batch is the same.
    longer, shorter = (drafted_ms(row, instance, tpot_ms, 0.0, 0.5)[1] for tpot_ms in (60.0, 50.0))
    assert longer - shorter == pytest.approx(10.0)


def test_drafts_leave_the_prompts_of_others_as_frequent() -> None:
    catalog = load_catalog()
    source = "measured=2026-03-20; silicon_concurrency={}; lmsysorg/sglang:v0.5.9-cu130"
    row = {"model_path": "Qwen/Qwen3.5-397B-A17B", "moe_quant_mode": "fp8_block", "tp_size": "4"}
    plain = point(**row, moe_tp_size="1", moe_ep_size="4", silicon_data_source=source.format(64))
    drafted = point(**row, moe_tp_size="4", moe_ep_size="1", silicon_data_source=source.format(64))
    assert (drafts(plain), drafts(drafted)) == (0, 3)
    assert draft_host_s(drafted) > draft_host_s(plain) == 0.0

    def tpot_ms(acceptance: float, replayed_ms: float) -> float:
        numbers = ServingNumbers(ServingRatios(), {"sglang experts": 0.0}, acceptance, {})
        served = with_waits(drafted, Served(200.0, replayed_ms, ""), catalog, numbers)
        assert served.tpot_ms is not None
        return served.tpot_ms

    # What comes between two tokens is no less for steps that yield 1.875 of them; steps are.
    assert tpot_ms(0.5, 45.0) - tpot_ms(0.5, 40.0) == pytest.approx(5.0, rel=0.05)
    assert tpot_ms(0.5, 40.0) < tpot_ms(0.3, 40.0)


def test_a_name_of_two_launches_is_told_by_what_only_one_ran() -> None:
    def told(concurrency: int, prompt: str) -> str:
        source = f"measured=2026-03-25; silicon_concurrency={concurrency}"
        return drafting(point(silicon_data_source=source, isl=prompt))

    assert told(128, "1024") == told(8, "8192") == "yes"
    assert told(64, "1024") == told(4, "8192") == "untold"


def test_young_engines_are_slower() -> None:
    catalog = load_catalog()
    old = point(silicon_data_source="silicon_concurrency=16; measured=2025-11-02")
    new = replace(old, raw={**old.raw, "silicon_data_source": "silicon_concurrency=16; measured=2026-03-25"})
    ratios = ServingRatios(young=1.5)
    times = []
    for one in (old, new):
        assert one.colocated is not None
        instance = pool_instance(one, one.colocated, catalog, ratios)
        assert not isinstance(instance, Infeasible)
        times.append(instance.plan.expert_weights_s)
    assert times[0] == pytest.approx(1.5 * times[1])


def test_a_sweep_of_its_own_falls_back_on_its_engine() -> None:
    own = point(silicon_data_source="gap-analysis/x; silicon_concurrency=16")
    keys = ("sglang own sweep deepseek_r1", "sglang latent own sweep", "sglang latent")
    assert request_keys(own, load_catalog()) == keys
    assert request_keys(point(), load_catalog()) == keys[2:]


def test_a_first_wave_waits_for_kernels_that_nobody_compiled() -> None:
    catalog = load_catalog()
    numbers = ServingNumbers(ServingRatios(), {"sglang latent": 0.0}, 0.5, {"fp8_block": 20.0})

    def ttft_ms(date: str, concurrency: int) -> float:
        row = point(silicon_data_source=f"silicon_concurrency={concurrency}; measured={date}")
        served = with_waits(row, Served(200.0, 10.0, ""), catalog, numbers)
        assert served.ttft_ms is not None
        return served.ttft_ms

    # One wave of ten waits; prompts that fill no chunk meet none of its kernels.
    assert ttft_ms("2025-11-18", 64) == pytest.approx(ttft_ms("2026-03-25", 64) + 2000.0)
    assert ttft_ms("2025-11-18", 4) == ttft_ms("2026-03-25", 4)
