"""Orderings that Splitwise and DistServe report: whole prompts stall the tokens of others, so a colocated
engine that does not chunk keeps its limits up to a lower rate than a split.
"""

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.transfer import TransferPath, resolve_path
from pdexplorer.scenario.fleet_block import Engine, Model
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.workload_block import Workload
from pdexplorer.simulator.run import simulate_colocated, simulate_disaggregated
from pdexplorer.workload.generate import generate_requests

RATES_PER_S = (8.0, 16.0, 24.0)


def resolved(model, accelerator, tp, engine="vllm"):
    catalog = load_catalog()
    scenario = Scenario(model=Model(name=model, weight_format="bf16"), engine=Engine(profile=engine))
    instance = resolve_instance(
        catalog, scenario, accelerator_id=accelerator, tp=tp, pp=1, ep=1, attention_dp=1, weight_format=None
    )
    assert isinstance(instance, Instance)
    path = resolve_path(catalog, scenario, instance, instance)
    assert isinstance(path, TransferPath)
    return instance, path


def traffic(rate_per_s, inputs, outputs, requests):
    workload = Workload(
        rate_per_s=rate_per_s, input_tokens=inputs[0], input_p95_tokens=inputs[1],
        output_tokens=outputs[0], output_p95_tokens=outputs[1],
    )  # fmt: skip
    return generate_requests(workload, requests, seed=1)


@pytest.fixture(scope="module")
def gaps_s():
    """P99 of the gaps between tokens by fleet: Llama-2-70B on 4 × 8 H100, Azure conversation lengths."""
    instance, path = resolved("llama_2_70b", "h100_sxm", 8)
    fleets = {
        "unchunked": (simulate_colocated, ColocatedFleet(instance, 4, 2048, "unchunked", 256)),
        "chunked": (simulate_colocated, ColocatedFleet(instance, 4, 512, "chunked", 256)),
        "split": (
            simulate_disaggregated,
            DisaggregatedFleet(instance, 2, instance, 2, path, 2048, 256, "prefill"),
        ),
    }
    found = {name: [] for name in fleets}
    for rate_per_s in RATES_PER_S:
        requests = traffic(rate_per_s, (1155, 3700), (211, 451), 400)
        for name, (simulate, fleet) in fleets.items():
            result = simulate(fleet, requests)
            below = np.cumsum(result.itl_gaps) / result.itl_gaps.sum()
            found[name].append(float(result.itl_bin_s[np.searchsorted(below, 0.99)]))
    return {name: np.array(values) for name, values in found.items()}


def test_whole_prompts_stall_the_tokens_of_others_and_a_split_does_not(gaps_s):
    assert (gaps_s["unchunked"] > 2.0 * gaps_s["split"]).all()
    assert (np.diff(gaps_s["unchunked"]) > 0.0).all()


def test_chunks_lie_between(gaps_s):
    assert (gaps_s["chunked"] < gaps_s["unchunked"]).all()
    assert (gaps_s["chunked"] > gaps_s["split"]).all()


def test_attainment_against_rate_as_distserve_draws_it():
    """OPT-66B summarising on 3 × 4 A100 with the engine of 2023 on both sides: TTFT 15 s, TPOT 150 ms."""
    instance, path = resolved("opt_66b", "a100_80_sxm", 4, "vllm_2023")
    colocated = ColocatedFleet(instance, 3, 2560, "unchunked", 256)
    split = DisaggregatedFleet(instance, 2, instance, 1, path, 2560, 256, "prefill")
    attained = []
    for rate_per_s in (2.4, 3.6, 4.8):
        requests = traffic(rate_per_s, (1738, 5000), (90, 300), 500)
        results = simulate_colocated(colocated, requests), simulate_disaggregated(split, requests)
        attained.append([attainment(result.records, 15.0, 0.15) for result in results])
    colocated_fraction, split_fraction = np.array(attained).T
    assert (split_fraction > colocated_fraction).all()
    assert (np.diff(colocated_fraction) < 0.0).all()
    assert split_fraction[1] > 0.99 > colocated_fraction[1]  # one reaches 99%, the other no more


def attainment(records, ttft_s, tpot_s):
    steps = np.maximum(records["output_tokens"] - 1, 1)
    in_time = records["first_token_s"] - records["arrival_s"] <= ttft_s
    return float((in_time & ((records["finish_s"] - records["first_token_s"]) / steps <= tpot_s)).mean())
