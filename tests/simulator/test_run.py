"""Replays of real fleets and traces: every request accounted for, macro-steps exact with real step times."""

from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.timer import compile_timer
from pdexplorer.physics.transfer import TransferPath, exposed_transfer_s, resolve_path
from pdexplorer.scenario.fleet_block import Model
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.workload.requests import selected
from pdexplorer.workload.traces import read_trace
from tests.shared_data import shared_path
from tests.simulator.fakes import poisson, requests_of
from tests.simulator.reference import StepEngine
from tests.simulator.test_macro_steps import assert_same


def fleets(model="llama_3_1_8b", tp=1, attention_dp=1):
    scenario = Scenario(model=Model(name=model, weight_format="bf16"))
    catalog = load_catalog()
    instance = resolve_instance(
        catalog, scenario, accelerator_id="h200_sxm", tp=tp, pp=1, ep=1, attention_dp=attention_dp,
        weight_format=None,
    )  # fmt: skip
    assert isinstance(instance, Instance)
    path = resolve_path(catalog, scenario, instance, instance)
    assert isinstance(path, TransferPath)
    return (
        ColocatedFleet(instance, 4, 2048, "chunked", 256),
        DisaggregatedFleet(instance, 2, instance, 2, path, 8192, 256, "decode"),
    )


@pytest.mark.parametrize(
    "name", ["azure_2023_conv.csv", "azure_2023_code.csv", "mooncake_conversation_first.jsonl"]
)
def test_every_request_of_a_trace_is_accounted_for(name):
    requests = read_trace(shared_path(f"traces/{name}"))
    requests = selected(requests, np.arange(1500))
    colocated, disaggregated = fleets()
    for result in (simulate_colocated(colocated, requests), simulate_disaggregated(disaggregated, requests)):
        assert result.requests == 1500
        assert result.completed == 1500
        assert (result.records["input_tokens"] == requests.input_tokens).all()
        for usage in result.pools.values():
            busy_s = usage.prefill_busy_s + usage.decode_busy_s + usage.transfer_blocked_s
            assert busy_s + usage.idle_s == pytest.approx([result.simulated_s] * usage.instances, rel=1e-9)


@pytest.mark.parametrize(
    ("model", "tp", "attention_dp"), [("llama_3_1_8b", 1, 1), ("gpt_oss_120b", 4, 1), ("qwen3_30b_a3b", 1, 4)]
)
def test_macro_steps_with_real_step_times(model, tp, attention_dp):
    timer = compile_timer(fleets(model, tp, attention_dp)[0].instance)
    draw = np.random.default_rng(3)
    given = requests_of(poisson(20.0, 60, 3), draw.integers(20, 300, 60), draw.integers(1, 200, 60))
    spec = EngineSpec(timer, 1, kv_blocks=300, chunk_tokens=256, watermark_blocks=3)
    assert_same(
        Colocated(spec, given, SimulationOptions()).run(),
        Colocated(spec, given, SimulationOptions(), StepEngine).run(),
    )


@pytest.mark.parametrize("overlap", [True, False])
def test_a_lone_transfer_takes_what_physics_says(overlap):
    _, fleet = fleets()
    fleet = replace(fleet, path=replace(fleet.path, layerwise_overlap=overlap, egress_byte_per_s=2e9))
    result = simulate_disaggregated(fleet, requests_of([0.0], 8000, 5))
    prefill_s = result.records["prefill_end_s"][0] - result.records["prefill_start_s"][0]
    layers = fleet.prefill.architecture.layers
    expected_s = exposed_transfer_s(fleet.path, 8000 * 131072, prefill_s, layers)
    assert result.kv_exposed_s[0] == pytest.approx(expected_s)


@pytest.mark.parametrize("options", [SimulationOptions(), SimulationOptions(routing="prefix_aware")])
def test_an_engine_spends_its_time_on_a_request_once_a_hop(options):
    def ttft_s(fleet):
        simulate = simulate_colocated if isinstance(fleet, ColocatedFleet) else simulate_disaggregated
        records = simulate(fleet, requests_of([0.0], 2000, 5), options).records
        return records["first_token_s"][0]

    colocated, split = fleets()
    slow = replace(colocated.instance, engine=replace(colocated.instance.engine, request_overhead_s=0.04))
    fast = replace(slow, engine=replace(slow.engine, request_overhead_s=0.0))
    for fleet, pools, added_s in (
        (colocated, ("instance",), 0.04),
        (split, ("prefill", "decode"), 0.08),
        (replace(split, first_token_from="prefill"), ("prefill", "decode"), 0.04),
    ):
        times = [ttft_s(replace(fleet, **dict.fromkeys(pools, each))) for each in (slow, fast)]
        assert times[0] - times[1] == pytest.approx(added_s)


def test_arrivals_are_needed_unless_the_loop_is_closed():
    requests = requests_of([np.nan, np.nan], 100, 5)
    colocated, _ = fleets()
    with pytest.raises(ValueError, match="no arrival times"):
        simulate_colocated(colocated, requests)
    options = SimulationOptions(closed_loop_concurrency=1)
    assert simulate_colocated(colocated, requests, options).completed == 2
