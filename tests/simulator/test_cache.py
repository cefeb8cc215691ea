"""Caches with real capacity: known shares of hits on shipped traces, what pushes blocks out, what fetching
costs.
"""

from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.simulator.cache import HbmCache, LruCache, PrefixIndex
from pdexplorer.simulator.managed_colocated import ManagedColocated
from pdexplorer.simulator.options import CacheOptions, SimulationOptions
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.tiers import Tier, TierPort, plan_fetch
from pdexplorer.workload.traces import read_trace
from tests.shared_data import shared_path
from tests.simulator.fakes import FakeTimer, requests_of

TIMER = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-3)


@pytest.mark.parametrize(
    ("name", "capacity_tokens", "share"),
    [
        ("mooncake_conversation_first.jsonl", float("inf"), 0.350),
        ("mooncake_conversation_first.jsonl", 3_000_000, 0.134),
        ("mooncake_synthetic.jsonl", float("inf"), 0.640),
        ("mooncake_synthetic.jsonl", 3_000_000, 0.309),
    ],
)
def test_share_of_blocks_hit_on_traces(name, capacity_tokens, share):
    requests = read_trace(shared_path(f"traces/{name}"))
    cache = LruCache(capacity_tokens / requests.block_tokens)
    hits = total = 0
    for blocks in requests.block_hashes:
        hits += cache.hits(blocks)
        total += len(blocks)
        cache.put(blocks)
    assert hits / total == pytest.approx(share, abs=0.01)


def test_a_store_without_bounds_gives_a_fleet_the_infinite_share():
    requests = read_trace(shared_path("traces/mooncake_synthetic.jsonl"))
    timer = FakeTimer(step_s=1e-6, sequence_s=0.0, context_s=0.0, token_s=1e-9)
    given = replace(requests, output_tokens=np.ones_like(requests.output_tokens))
    cache = CacheOptions(hbm=False, store=Tier(1e18, 1e18))
    options = SimulationOptions(cache=cache, samples=0)
    spec = EngineSpec(replace(timer, step_s=1e-3), 4, kv_blocks=10**6, chunk_tokens=10**6)
    result = ManagedColocated(spec, given, options, 1.0).run()
    blocks = sum(len(each) for each in given.block_hashes)
    assert result.tier_hits["store"] / blocks == pytest.approx(0.64, abs=0.01)


def test_least_recently_used_goes_first():
    cache = LruCache(3)
    cache.put([1, 2])
    cache.put([3])
    cache.put([1])
    cache.put([4])
    assert list(cache.held) == [3, 1, 4]
    assert cache.hits([1, 2, 3]) == 1


def test_running_sequences_push_idle_blocks_out():
    free, index = [10], PrefixIndex()
    cache = HbmCache(0, lambda: free[0], index)
    cache.hold([1, 2, 3])
    assert cache.hits([1, 2, 9]) == 2
    cache.release([1, 2, 3], new=[4])
    assert cache.hits([1, 2, 3, 4]) == 4
    free[0] = 2
    assert cache.hits([1, 2, 3, 4]) == 2
    free[0] = 10
    assert cache.hits([1, 2, 3, 4]) == 2
    assert index.longest([1, 2, 3], 0b11) == (1, 2)
    cache.clear()
    assert index.masks == {}


def repeated(block_tokens=50, **changes):
    """The same prompt twice, of 200 tokens, the second long after the first."""
    given = requests_of([0.0, 10.0], 200, 5)
    blocks = (1, 2, 3, 4)
    return replace(given, block_hashes=(blocks, blocks), block_tokens=block_tokens, **changes)


def colocated(given, cache, **spec):
    options = SimulationOptions(cache=cache)
    return ManagedColocated(
        EngineSpec(TIMER, **{"instances": 1, "kv_blocks": 1000, **spec}), given, options, 1.0
    ).run()


def test_a_hit_is_not_computed_but_its_last_token_is():
    records = colocated(repeated(), CacheOptions()).records
    assert records["cached_tokens"].tolist() == [0, 199]
    assert records["first_token_s"] == pytest.approx([0.01 + 0.2, 10.0 + 0.01 + 0.001])


def test_no_room_no_hit():
    given = replace(
        requests_of([0.0, 5.0, 10.0], [200, 150, 200], 5),
        block_hashes=((1, 2, 3, 4), (5, 6, 7), (1, 2, 3, 4)),
        block_tokens=50,
    )
    assert colocated(given, CacheOptions(), kv_blocks=40).records["cached_tokens"].tolist() == [0, 0, 199]
    # While the second runs, 160 to 176 of 224 tokens are in use; the third hits what was left then.
    assert colocated(given, CacheOptions(), kv_blocks=14).records["cached_tokens"].tolist() == [0, 0, 50]


def test_fetching_takes_time_and_only_happens_where_it_is_faster():
    slow, fast = Tier(1e9, 500.0, 0.05), Tier(1e9, 4000.0, 0.05)
    result = colocated(repeated(), CacheOptions(hbm=False, host=fast))
    assert result.tier_hits == {"host": 4}
    # 200 tokens of 1 byte at 4,000 byte/s after 50 ms, then one token is computed.
    assert result.records["first_token_s"][1] == pytest.approx(10.0 + 0.05 + 0.05 + 0.01 + 0.001)
    result = colocated(repeated(), CacheOptions(hbm=False, host=slow))
    assert result.tier_hits == {}
    assert result.records["first_token_s"][1] == pytest.approx(10.0 + 0.01 + 0.2)


def test_the_fastest_tier_that_has_a_block_gives_it_and_reads_queue():
    host, ssd = TierPort(Tier(2.0, 1.0, 0.5), 1.0), TierPort(Tier(10.0, 0.5, 1.0), 1.0)
    host.blocks.put([1, 2])
    ssd.blocks.put([1, 2, 3])
    ports = [("host", host), ("ssd", ssd)]
    fetch = plan_fetch(ports, [1, 2, 3, 4], 1, 0.0)
    assert (fetch.blocks, fetch.of_tier) == (3, (("host", 1), ("ssd", 1)))
    assert fetch.end_s == pytest.approx(1.0 + 2.0)
    host.free_s = 7.0
    assert plan_fetch(ports, [1, 2, 3, 4], 1, 0.0).end_s == pytest.approx(7.0 + 0.5 + 1.0)
    assert plan_fetch(ports, [9], 0, 0.0) is None


def alike(common_blocks, kv_blocks, outputs=(40, 20)):
    """Two prompts of 64 tokens, the second while the first decodes, with that many blocks of 16 the same."""
    given = replace(
        requests_of([0.0, 0.2], 64, list(outputs)),
        block_hashes=((1, 2, 3, 4), (*(1, 2, 3, 4)[:common_blocks], *range(9, 13 - common_blocks))),
        block_tokens=16,
    )
    options = SimulationOptions(cache=CacheOptions(), samples=0)
    return ManagedColocated(EngineSpec(TIMER, 1, kv_blocks=kv_blocks), given, options, 1.0)


@pytest.mark.parametrize(
    ("common_blocks", "kv_blocks", "together"), [(0, 13, True), (0, 12, False), (3, 10, True), (3, 9, False)]
)
def test_blocks_shared_by_running_sequences_are_charged_once(common_blocks, kv_blocks, together):
    # As the second ends they hold 7 (97 to 103 tokens) and 6 blocks, less what they have in common.
    fleet = alike(common_blocks, kv_blocks)
    records = fleet.run().records
    assert records["prefill_start_s"][1] < 0.3
    assert (records["preemptions"].sum() == 0) == together
    assert fleet.engines[0].kv.free == kv_blocks


def test_whoever_stays_pays_for_what_was_shared():
    fleet = alike(3, 9, (30, 80))
    engine = fleet.engines[0]
    held = []
    engine.on_room = lambda: held.append(9 - engine.kv.free)
    records = fleet.run().records
    assert records["cached_tokens"].tolist() == [0, 48]
    assert records["preemptions"].sum() == 0
    # The first comes with 4; the second adds 1 to the 5 by then; as the first leaves, the second, which has
    # 64 + 16 tokens, holds 5; then nobody anything.
    assert held == [4, 6, 5, 0]


def test_a_prompt_computed_twice_at_once_is_one_block_afterwards():
    given = replace(requests_of([0.0, 0.0], 64, 20), block_hashes=((1, 2, 3, 4),) * 2, block_tokens=16)
    options = SimulationOptions(cache=CacheOptions(), samples=0)
    fleet = ManagedColocated(EngineSpec(TIMER, 1, kv_blocks=12), given, options, 1.0)
    held = []
    prefilled = fleet.engines[0].on_prefilled

    def note(sequence):
        prefilled(sequence)
        held.append(12 - fleet.engines[0].kv.free)

    fleet.engines[0].on_prefilled = note
    fleet.run()
    assert held == [8, 4]
    assert fleet.engines[0].kv.free == 12
