"""Small parts on their own: block growth, gap ramps, routers, what a step prefills."""

import numpy as np
import pytest

from pdexplorer.physics.pairs import past_read, prefill_pairs
from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.kv import BlockPool
from pdexplorer.simulator.router import FRONTENDS, Frontends, LeastLoaded, RoundRobin, router_of
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.simulator.work import prefill_work


@pytest.mark.parametrize("block_tokens", [1, 4, 16])
def test_blocks_taken_ahead_are_those_of_a_loop(block_tokens):
    draw = np.random.default_rng(block_tokens)
    pool = BlockPool(10_000, block_tokens, 0)
    contexts = draw.integers(2, 200, 12).tolist()
    for context in contexts:
        pool.phase[pool.slot(7, context)] += 1
    held = sum(pool.blocks_of(context - 1) for context in contexts)
    for steps in range(1, 60):
        grown = sum(pool.blocks_of(context + steps - 1) for context in contexts)
        assert pool.taken(7, steps, 12) == grown - held
        pool.free = grown - held
        assert pool.steps_that_fit(7, steps, 12) == steps
        if grown > held:
            pool.free -= 1
            assert pool.taken(7, pool.steps_that_fit(7, steps, 12), 12) <= pool.free
            assert pool.taken(7, pool.steps_that_fit(7, steps, 12) + 1, 12) > pool.free


@pytest.mark.parametrize("slope_s", [0.0, 1e-7, 3e-5, 1e-3])
def test_a_ramp_of_gaps_is_its_gaps_one_by_one(slope_s):
    ramp, single = GapHistogram(), GapHistogram()
    ramp.add_ramp(0.012345678, slope_s, 300, 7)
    for step in range(300):
        single.add(0.012345678 + slope_s * step, 7)
    assert ramp.gaps == single.gaps == 2100
    assert ramp.sum_s == pytest.approx(single.sum_s)
    differing = set(ramp.bins.items()) ^ set(single.bins.items())
    assert not differing


def test_routers():
    turns = RoundRobin(3)
    assert [turns.choose() for _ in range(5)] == [0, 1, 2, 0, 1]
    least = LeastLoaded(3)
    for load in (5.0, 3.0, 4.0):
        least.change(least.choose(), load)
    assert least.choose() == 1
    least.change(0, -5.0)
    assert least.choose() == 0
    with pytest.raises(ValueError, match="round_robin, least_loaded"):
        router_of("random", 2)


def test_frontends_share_equally_and_do_not_know_of_each_other():
    router = Frontends(4)
    sent = [router.choose() for _ in range(8 * FRONTENDS)]
    assert [sent.count(instance) for instance in range(4)] == [2 * FRONTENDS] * 4
    # Each in turn would never send two of four requests in a row to one instance.
    assert any(len(set(sent[i : i + 4])) < 4 for i in range(0, FRONTENDS, 4))
    again = Frontends(4)
    assert sent == [again.choose() for _ in sent]


def test_least_loaded_agrees_with_a_scan():
    draw = np.random.default_rng(1)
    router, loads, last = LeastLoaded(7), [0.0] * 7, [0] * 7
    for turn in range(1, 2001):
        index, load = int(draw.integers(7)), float(draw.integers(-3, 5))
        router.change(index, load)
        loads[index] += load
        last[index] = turn if load > 0 else last[index]
        assert router.choose() == min(range(7), key=lambda each: (loads[each], last[each]))


def test_idle_instances_take_turns():
    router = LeastLoaded(3)
    chosen = []
    for _ in range(6):
        index = router.choose()
        chosen.append(index)
        router.change(index, 1.0)
        router.change(index, -1.0)
    assert chosen == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("window", [None, 64])
def test_prefill_work_is_the_physics_sum(window):
    chunks = []
    for past, new in ((0, 10), (60, 20), (500, 7)):
        sequence = Sequence(0, 0.0, past + new, past, 1)
        chunks.append((sequence, new))
    pasts, news = np.array([0, 60, 500]), np.array([10, 20, 7])
    assert prefill_work(chunks, window) == pytest.approx(
        (
            37,
            prefill_pairs(news, pasts).sum(),
            prefill_pairs(news, pasts, window).sum(),
            560,
            past_read(pasts, window).sum(),
            3,
        )
    )
