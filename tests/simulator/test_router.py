"""Routers that know caches and loads, rules for what stays local, refusal, mixed pools."""

from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.scenario.fleet_block import Routing
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.simulator.cache import PrefixIndex
from pdexplorer.simulator.faulty_disaggregated import FaultyDisaggregated
from pdexplorer.simulator.managed_colocated import ManagedColocated
from pdexplorer.simulator.options import CacheOptions, SimulationOptions, options_of
from pdexplorer.simulator.pool import Pool
from pdexplorer.simulator.router import LeastLoaded
from pdexplorer.simulator.run import simulate_disaggregated
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.simulator.split import DynamoPair, LlmdThreshold, OwnThreshold
from pdexplorer.workload.sessions import Sessions, session_requests
from tests.simulator.fakes import FakeTimer, poisson, requests_of

TIMER = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-4)


def disaggregated(given, options, prefills=1, decodes=1, link=None):
    return FaultyDisaggregated(
        PrefillSpec(TIMER, prefills, kv_blocks=10**5),
        EngineSpec(TIMER, decodes, kv_blocks=10**5),
        link or LinkSpec(0.001, 1e9, 1e9),
        False,
        (given.input_tokens * 1e5).tolist(),
        given,
        options,
        1.0,
    ).run()


@pytest.mark.parametrize(
    ("rule", "uncached", "remote"),
    [
        (OwnThreshold(500), 499, False),
        (OwnThreshold(500), 500, True),
        (OwnThreshold(0), 1, True),
        (LlmdThreshold(16), 15, False),
        (LlmdThreshold(16), 16, True),
        (LlmdThreshold(0), 10**6, False),
        (DynamoPair(), 699, False),
        (DynamoPair(), 700, True),
        (DynamoPair(), 1000, True),
    ],
)
def test_rules_at_their_edges(rule, uncached, remote):
    assert rule.remote(1000, uncached) is remote


def test_dynamo_keeps_only_short_and_mostly_cached_prompts():
    assert not DynamoPair().remote(10_000, 2047)
    assert DynamoPair().remote(10_000, 2048)


def test_local_prompts_prefill_on_the_decode_instance():
    given = requests_of([0.0, 1.0, 2.0], [100, 600, 100], 5)
    result = disaggregated(given, SimulationOptions(split_rule=OwnThreshold(500)))
    records = result.records
    assert records["prefill_instance"].tolist() == [-1, 0, -1]
    assert np.isnan(records["transfer_end_s"]).tolist() == [True, False, True]
    assert result.remote_fraction == pytest.approx(1 / 3)
    assert records["first_token_s"][0] == pytest.approx(0.01 + 0.01)
    assert result.pools["decode"].prefill_busy_s.sum() == pytest.approx(2 * 0.02)


def test_a_share_of_the_prompts_goes_remote_as_the_threshold_says():
    lengths = np.random.default_rng(2).integers(1, 1001, 400)
    given = requests_of(poisson(5.0, 400, 1), lengths, 5)
    for limit in (0, 250, 750, 2000):
        result = disaggregated(given, SimulationOptions(split_rule=OwnThreshold(limit)))
        assert result.remote_fraction == pytest.approx((lengths >= limit).mean())
    result = disaggregated(given, SimulationOptions(split_rule=LlmdThreshold(0)))
    assert result.remote_fraction == 0.0


def test_the_longest_prefix_unless_that_one_is_overloaded():
    index = PrefixIndex()
    for block, instance in ((1, 0), (1, 2), (2, 2)):
        index.add(block, instance)
    pool = Pool("prefix_aware", 3, index, load_ratio=1.5)
    assert pool.choose((1, 2, 3)) == 2
    assert pool.choose((1, 9)) == 0
    assert pool.choose((9,)) == 0
    pool.change(2, 4.0)
    pool.change(0, 1.0)
    assert pool.choose((1, 2, 3)) == 1
    pool.change(1, 4.0)
    assert pool.choose((1, 2, 3)) == 2
    pool.set_open(2, False)
    assert pool.choose((1, 2, 3)) == 0


def test_a_pool_is_the_least_loaded_router_while_all_are_open():
    draw = np.random.default_rng(3)
    pool, router = Pool("least_loaded", 5), LeastLoaded(5)
    for _ in range(500):
        each, load = int(draw.integers(5)), float(draw.integers(0, 4))
        pool.change(each, load)
        router.change(each, load)
        assert pool.choose() == router.choose()
    for each in range(5):
        pool.set_open(each, False)
    assert pool.choose() == -1


@pytest.mark.parametrize("fleet", ["colocated", "disaggregated"])
def test_prefix_aware_routing_hits_more(fleet):
    given = session_requests(Sessions(2.0, turns=4, think_s=5.0), 60, 1)

    def hit(policy):
        options = SimulationOptions(routing=policy, cache=CacheOptions())
        if fleet == "colocated":
            return ManagedColocated(EngineSpec(TIMER, 4, 10**5), given, options).run().cached_fraction
        return disaggregated(given, options, 4, 2).cached_fraction

    assert hit("prefix_aware") > hit("least_loaded") + 0.05
    assert hit("prefix_aware") > 0.7


def test_generated_tokens_are_prefilled_again_unless_written_back():
    given = session_requests(Sessions(0.5, turns=4, think_s=10.0), 40, 1)
    shares = [
        disaggregated(given, SimulationOptions(cache=CacheOptions(write_back=back))).cached_fraction
        for back in (True, False)
    ]
    assert shares[0] > shares[1] + 0.08


def test_blocks_the_decode_side_holds_are_not_sent():
    given = replace(
        requests_of([0.0, 5.0], 200, 5), block_hashes=((1, 2, 3, 4), (1, 2, 3, 9)), block_tokens=50
    )
    result = disaggregated(given, SimulationOptions(cache=CacheOptions()))
    assert result.bytes_moved == pytest.approx(200e5 + 50e5)


def test_refused_before_prefill_when_overloaded():
    given = requests_of(poisson(30.0, 300, 1), 1000, 2)
    for result in (
        disaggregated(given, SimulationOptions(refuse_ttft_s=0.5)),
        ManagedColocated(EngineSpec(TIMER, 1, 10**5), given, SimulationOptions(refuse_ttft_s=0.5)).run(),
    ):
        records = result.records
        refused = records["status"] == "refused"
        assert 50 < refused.sum() < 250
        assert np.isnan(records["prefill_start_s"][refused]).all()
        ttft_s = (records["first_token_s"] - records["arrival_s"])[~refused]
        assert np.percentile(ttft_s, 95) < 0.6


def test_what_would_wait_too_long_turns_a_decode_instance_mixed():
    given = requests_of(poisson(12.0, 300, 2), 1000, 20)
    waiting = disaggregated(given, SimulationOptions(overflow_wait_s=None, refuse_ttft_s=1e9))
    mixed = disaggregated(given, SimulationOptions(overflow_wait_s=0.3))
    ttft = [
        np.percentile(each.records["first_token_s"] - each.records["arrival_s"], 95)
        for each in (waiting, mixed)
    ]
    assert ttft[1] < 0.5 * ttft[0]
    assert 0.3 < mixed.remote_fraction < 1.0


def test_options_of_a_scenario():
    scenario = Scenario(routing=Routing(policy="prefix_aware", local_threshold_tokens=700, overhead_ms=2.0))
    options = options_of(scenario)
    assert options.split_rule == OwnThreshold(700)
    assert options.routing == "prefix_aware"
    assert options.router_overhead_s == pytest.approx(0.002)
    assert options_of(Scenario()).plain


def test_a_throttled_link_and_its_fallback_are_keys_of_a_scenario():
    keys = {"network.transfers_at_once": "2", "routing.fallback_transfer_ms": "40"}
    scenario, refused = apply_settings(Scenario(), keys)
    assert not refused
    options = options_of(scenario)
    assert (options.transfers_at_once, options.fallback_transfer_s) == (2, 0.04)
    auto, refused = apply_settings(scenario, dict.fromkeys(keys, "auto"))
    assert not refused
    assert options_of(auto) == options_of(Scenario())


def test_frontends_are_refused_where_a_fleet_is_managed():
    options = SimulationOptions(routing="frontends", split_rule=OwnThreshold(500))
    with pytest.raises(ValueError, match="routing = 'frontends'"):
        simulate_disaggregated(None, None, options)
