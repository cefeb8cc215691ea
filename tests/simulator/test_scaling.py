"""A mix that shifts, with fixed, rebalanced and autoscaled pools."""

import numpy as np
import pytest

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.simulator.faulty_disaggregated import FaultyDisaggregated
from pdexplorer.simulator.managed_colocated import ManagedColocated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.scaling import Scaling
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.workload.shift import shifting_requests
from tests.simulator.fakes import FakeTimer

TIMER = FakeTimer(step_s=0.01, sequence_s=1e-4, context_s=1e-8, token_s=1e-4)


def mix():
    """Long prompts with short answers, then the reverse."""
    reading = Workload(rate_per_s=6, input_tokens=4000, output_tokens=20)
    writing = Workload(rate_per_s=6, input_tokens=200, output_tokens=400)
    return shifting_requests([(writing, 200.0), (reading, 400.0), (writing, 200.0)], 1)


def disaggregated(given, scaling, prefills, decodes):
    return FaultyDisaggregated(
        PrefillSpec(TIMER, prefills, kv_blocks=4000),
        EngineSpec(TIMER, decodes, kv_blocks=4000, max_batch=64),
        LinkSpec(0.001, 1e10, 1e10),
        False,
        (given.input_tokens * 1e5).tolist(),
        given,
        SimulationOptions(scaling=scaling),
    ).run()


def p95_ttft_s(result):
    return np.percentile(result.records["first_token_s"] - result.records["arrival_s"], 95)


def assert_accounted(result, given):
    assert result.completed == len(given)
    for usage in result.pools.values():
        spent_s = usage.prefill_busy_s + usage.decode_busy_s + usage.transfer_blocked_s + usage.idle_s
        np.testing.assert_allclose(spent_s + usage.off_s, result.simulated_s, rtol=1e-9)


def test_rebalanced_pools_follow_the_mix_with_as_many_instances():
    given = mix()
    fixed = disaggregated(given, None, 1, 4)
    moved = disaggregated(
        given,
        Scaling("rebalanced", prefill_instances=1, decode_instances=4, interval_s=5.0, start_s=10.0),
        4,
        4,
    )
    assert_accounted(moved, given)
    assert p95_ttft_s(moved) < 0.5 * p95_ttft_s(fixed)
    # Five instances, of which one is on its way now and then.
    assert 4.8 < moved.paid_instance_s / moved.simulated_s <= 5.0 + 1e-9
    assert fixed.paid_instance_s == pytest.approx(5 * fixed.simulated_s)


@pytest.mark.parametrize("fleet", ["colocated", "disaggregated"])
def test_autoscaled_pools_pay_for_less_than_the_largest(fleet):
    given = mix()
    scaling = Scaling(
        "autoscaled",
        prefill_instances=1,
        decode_instances=1,
        colocated_instances=2,
        interval_s=5.0,
        start_s=10.0,
    )
    if fleet == "colocated":
        spec = EngineSpec(TIMER, 8, kv_blocks=4000, max_batch=64)
        result = ManagedColocated(spec, given, SimulationOptions(scaling=scaling)).run()
    else:
        result = disaggregated(given, scaling, 4, 4)
    assert_accounted(result, given)
    assert result.records["retries"].sum() == 0
    assert 2.0 < result.paid_instance_s / result.simulated_s < 7.0
    used = {name: (usage.off_s < result.simulated_s).sum() for name, usage in result.pools.items()}
    assert max(used.values()) > 2


def test_scaling_that_means_nothing():
    for bad in ({"low_fraction": 0.9}, {"interval_s": 0.0}, {"least_instances": 0}):
        with pytest.raises(ValueError, match="allowed"):
            Scaling("autoscaled", **bad)
    with pytest.raises(ValueError, match="1 to 2"):
        disaggregated(mix(), Scaling("autoscaled", prefill_instances=3), 2, 2)
