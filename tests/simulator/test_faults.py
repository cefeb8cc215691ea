"""What dies, drains, slows and fails, by hand and beside the same replay without it."""

import math
from functools import partial

import numpy as np
import pytest

from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.faulty_disaggregated import FaultyDisaggregated
from pdexplorer.simulator.impact import impact
from pdexplorer.simulator.managed_colocated import ManagedColocated
from pdexplorer.simulator.options import CacheOptions, SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.workload.sessions import Sessions, session_requests
from tests.simulator.fakes import FakeTimer, poisson, requests_of

TIMER = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-4)
LINK = LinkSpec(0.0, 1e8, 1e9)


def disaggregated(given, *faults, prefills=2, decodes=2, first=False, link=LINK, **options):
    return FaultyDisaggregated(
        PrefillSpec(TIMER, prefills, kv_blocks=10**5),
        EngineSpec(TIMER, decodes, kv_blocks=10**5),
        link,
        first,
        (given.input_tokens * 1e5).tolist(),
        given,
        SimulationOptions(faults=faults, **options),
        1.0,
    ).run()


def colocated(given, *faults, instances=4, **options):
    spec = EngineSpec(TIMER, instances, kv_blocks=10**5)
    return ManagedColocated(spec, given, SimulationOptions(faults=faults, **options)).run()


def test_a_decode_goes_on_elsewhere_with_the_tokens_it_got():
    given = requests_of([0.0], 100, 50)
    result = colocated(given, Fault("down", 0.125, 9.0, instance=0), instances=2, retry_after_s=0.5)
    records = result.records
    # 0.02 s of prefill, ten more tokens by 0.12, the eleventh is lost; 111 tokens are prefilled again.
    assert records["first_token_s"][0] == pytest.approx(0.02)
    assert records["retries"][0] == 1
    assert records["decode_instance"][0] == 1
    assert records["finish_s"][0] == pytest.approx(0.625 + 0.01 + 0.0111 + 38 * 0.01)


@pytest.mark.parametrize("hop_s", [0.0, 0.02])
@pytest.mark.parametrize("replayed", [colocated, disaggregated])
def test_a_retry_is_another_hop(replayed, hop_s):
    fault = Fault("down", 0.05, 5.0, "prefill", 0)
    records = replayed(requests_of([0.0], 1000, 5), fault, router_overhead_s=hop_s).records
    assert records["prefill_end_s"][0] == pytest.approx(0.05 + hop_s + 0.11)


def test_a_dead_prefill_instance_loses_its_kv_but_no_request():
    given = requests_of([0.0, 0.0], 1000, 5)
    result = disaggregated(given, Fault("down", 0.05, 5.0, "prefill", 0))
    records = result.records
    assert records["retries"].tolist() == [1, 0]
    assert records["prefill_instance"].tolist() == [1, 1]
    assert records["prefill_end_s"] == pytest.approx([0.22, 0.11])
    assert result.completed == 2


def test_kv_on_its_way_from_a_dead_instance_is_lost():
    given = requests_of([0.0], 1000, 5)
    result = disaggregated(given, Fault("down", 0.5, 5.0, "prefill", 0))
    # Prefilled by 0.11, a second on the link; prefilled again on the other by 0.61.
    assert result.records["transfer_start_s"][0] == pytest.approx(0.61)
    assert result.records["transfer_end_s"][0] == pytest.approx(1.61)
    assert result.bytes_moved == pytest.approx(1e8)


def test_kv_for_a_dead_decode_instance_goes_to_another():
    given = requests_of([0.0], 1000, 5)
    records = disaggregated(given, Fault("down", 0.5, 5.0, "decode", 0)).records
    assert records["decode_instance"][0] == 1
    assert records["transfer_end_s"][0] == pytest.approx(1.5)
    assert records["prefill_end_s"][0] == pytest.approx(0.11)


def test_without_any_decode_instance_all_wait_for_its_return():
    given = requests_of([0.0, 0.3], 100, 50)
    records = disaggregated(given, Fault("down", 0.2, 3.0, "decode", 0), decodes=1).records
    assert (records["finish_s"] > 3.0).all()
    assert records["first_token_s"][0] < 0.2


def test_without_prefill_instances_prompts_stay_local():
    given = requests_of([0.5], 100, 5)
    records = disaggregated(given, Fault("down", 0.2, 3.0, "prefill", 0), prefills=1).records
    assert records["prefill_instance"][0] == -1
    assert records["first_token_s"][0] == pytest.approx(0.52)


def test_the_router_is_away():
    given = requests_of([0.0, 1.0, 1.5, 4.0], 100, 2)
    for run in (colocated, disaggregated):
        records = run(given, Fault("router_down", 0.9, 3.0)).records
        assert records["prefill_start_s"] == pytest.approx([0.0, 3.0, 3.0, 4.0])


def test_drained_before_it_goes_loses_nothing():
    given = requests_of([0.0, 0.01, 0.2, 0.3], 100, 100)
    drained = colocated(given, Fault("drain", 0.1, instance=0), instances=2)
    assert drained.records["retries"].sum() == 0
    assert drained.records["decode_instance"].tolist() == [0, 1, 1, 1]
    assert drained.records["finish_s"][0] == pytest.approx(0.02 + 99 * 0.01)
    killed = colocated(given, Fault("down", 0.1, instance=0), instances=2)
    assert killed.records["retries"].sum() == 1


def test_a_failed_transfer_is_sent_again_then_recomputed():
    given = requests_of([0.0], 1000, 5)
    always = Fault("transfer_failure", 0.0, failure_fraction=1.0)
    for retries, sent in ((0, 1), (2, 3)):
        result = disaggregated(given, always, transfer_retries=retries)
        assert result.completed == 1
        assert result.records["retries"][0] == sent
        assert np.isnan(result.records["transfer_end_s"][0])
        assert result.bytes_moved == pytest.approx(sent * 1e8)
        assert result.records["first_token_s"][0] == pytest.approx(0.11 + sent * 1.0 + 0.11)
    kept = disaggregated(given, always, transfer_retries=0, first=True)
    assert kept.records["first_token_s"][0] == pytest.approx(0.11)
    assert kept.itl_gaps.sum() == 4


def test_a_slow_link_shows_in_ttft_and_not_in_prefill():
    given = requests_of(np.arange(20) * 2.0, 1000, 5)
    calm = disaggregated(given)
    slow = disaggregated(given, Fault("slow_link", 9.5, 20.5, rate_fraction=0.25, jitter_s=0.1))
    hit = (given.arrival_s > 9) & (given.arrival_s < 16)
    prefill_s = slow.records["prefill_end_s"] - slow.records["prefill_start_s"]
    assert prefill_s == pytest.approx(0.11)
    extra_s = slow.records["first_token_s"] - calm.records["first_token_s"]
    assert (extra_s[hit] > 2.9).all()
    assert extra_s[given.arrival_s < 8] == pytest.approx(0.0)
    assert extra_s[given.arrival_s > 25] == pytest.approx(0.0)


def test_rates_change_while_a_transfer_is_under_way():
    given = requests_of([0.0], 1000, 5)
    records = disaggregated(given, Fault("slow_link", 0.61, 1.11, rate_fraction=0.5)).records
    # Half of it in half a second, a quarter in the next, the rest at full rate.
    assert records["transfer_end_s"][0] == pytest.approx(1.11 + 0.25)


def test_fallback_to_the_local_path_while_the_link_is_slow():
    given = requests_of(np.arange(20) * 2.0, 1000, 5)
    fault = Fault("slow_link", 9.5, 30.5, rate_fraction=0.05)
    stuck = disaggregated(given, fault)
    local = disaggregated(given, fault, fallback_transfer_s=2.0)
    inside = (given.arrival_s > 9.5) & (given.arrival_s < 30.5)
    assert (local.records["prefill_instance"][inside] == -1).all()
    assert (local.records["prefill_instance"][~inside] >= 0).all()
    assert np.nanmax(local.records["first_token_s"] - given.arrival_s) < 2.0
    assert np.nanmax(stuck.records["first_token_s"] - given.arrival_s) > 10.0


def test_a_dead_instance_forgets_its_cache():
    given = session_requests(Sessions(1.0, turns=6, think_s=4.0), 20, 1)
    kept = colocated(given, instances=1, cache=CacheOptions())
    lost = colocated(given, Fault("down", 15.0, 15.001), instances=1, cache=CacheOptions())
    assert lost.cached_fraction < kept.cached_fraction - 0.02
    assert lost.completed == len(given)


def test_impact_beside_the_colocated_fleet():
    given = requests_of(poisson(12.0, 600, 1), 1000, 50)
    split = partial(disaggregated, link=LinkSpec(0.0, 1e10, 1e10))
    for run, fault in (
        (colocated, Fault("down", 20.0, 30.0, instance=0)),
        (split, Fault("down", 20.0, 30.0, "prefill", 0)),
        (split, Fault("down", 20.0, 30.0, "decode", 0)),
    ):
        found = impact(run(given, fault), run(given), (fault,), ttft_s=2.0, tpot_s=0.1)
        assert found.lost == found.refused == 0
        assert 0 < found.restarted < 100
        assert found.extra_e2e_s > 0.0
        assert found.goodput_per_s <= found.goodput_without_per_s
        assert 0.0 < found.blast_fraction < 1.0
    nothing = impact(colocated(given), colocated(given), (fault,))
    assert nothing.blast_fraction == nothing.extra_e2e_s == 0.0
    with pytest.raises(ValueError, match="the same"):
        impact(colocated(given), colocated(requests_of([0.0])), (fault,))


def test_no_faults_cost_nothing_and_change_nothing():
    assert SimulationOptions(faults=()).plain
    assert not SimulationOptions(faults=(Fault("drain", 1.0),)).plain


@pytest.mark.parametrize(
    "bad",
    [
        {"start_s": 2.0, "end_s": 1.0},
        {"start_s": -1.0},
        {"start_s": 0.0, "rate_fraction": 0.0},
        {"start_s": 0.0, "failure_fraction": 1.5},
        {"start_s": 0.0, "jitter_s": -1.0},
        {"start_s": math.nan},
    ],
)
def test_faults_that_mean_nothing(bad):
    with pytest.raises(ValueError, match="allowed"):
        Fault("slow_link", **bad)
    with pytest.raises(ValueError, match="returns"):
        Fault("router_down", 0.0)


def test_where_nothing_ever_returns_the_replay_ends():
    given = requests_of([0.0, 1.0, 2.0], 100, 5)
    dead = Fault("down", 0.5, instance=0)
    for result in (colocated(given, dead, instances=1), disaggregated(given, dead, decodes=1)):
        assert result.records["status"].tolist() == ["completed", "unfinished", "unfinished"]
    drained = Fault("drain", 0.5, instance=0)
    assert colocated(given, drained, instances=1).completed == 1
