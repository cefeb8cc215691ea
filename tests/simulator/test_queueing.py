"""Waiting before prefill against queueing theory, batching off."""

import numpy as np
import pytest

from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from tests.simulator.fakes import SERVER, poisson, requests_of
from tests.simulator.queueing import erlang_d1, mean_and_halfwidth, pollaczek_khinchine

SEEDS = range(10)


def waits(arrivals, input_tokens, instances=1, routing="round_robin"):
    """Wait of each request; prefill alone, one prompt a step, answers of one token."""
    given = requests_of(arrivals, input_tokens, output_tokens=1)
    result = Disaggregated(
        PrefillSpec(SERVER, instances, kv_blocks=10**6, batch_tokens=1),
        EngineSpec(SERVER, 1, kv_blocks=10**6),
        LinkSpec(0.0, 1e9, 1e9),
        True,
        [0.0] * len(given),
        given,
        SimulationOptions(routing=routing, samples=0),
    ).run()
    assert result.completed == len(given)
    return result.records["prefill_start_s"] - result.records["arrival_s"]


def simulated(rate_per_s, input_tokens, requests=4000, **fleet):
    return mean_and_halfwidth(
        [waits(poisson(rate_per_s, requests, seed), input_tokens(seed), **fleet).mean() for seed in SEEDS]
    )


def test_deterministic_service_is_m_d_1():
    mean, half = simulated(7.0, lambda seed: 100)
    assert mean == pytest.approx(pollaczek_khinchine(7.0, [0.1], [1.0]), abs=half)
    assert half < 0.25 * mean


def test_mixed_prompts_are_m_g_1():
    def lengths(seed):
        return np.random.default_rng(100 + seed).choice([50, 400], 4000, p=[0.8, 0.2])

    mean, half = simulated(5.0, lengths)
    assert mean == pytest.approx(pollaczek_khinchine(5.0, [0.05, 0.4], [0.8, 0.2]), abs=half)


def test_spitzer_agrees_with_pollaczek_khinchine():
    assert erlang_d1(1, 6.0, 0.1) == pytest.approx(pollaczek_khinchine(6.0, [0.1], [1.0]), rel=1e-6)


def test_round_robin_is_e_c_d_1():
    mean, half = simulated(24.0, lambda seed: 100, instances=3)
    assert mean == pytest.approx(erlang_d1(3, 8.0, 0.1), abs=half)


def test_one_queue_is_m_d_c():
    mean, half = simulated(24.0, lambda seed: 100, instances=3, routing="central_queue")
    assert mean == pytest.approx(erlang_d1(3, 8.0, 0.1), abs=half)


def test_every_wait_follows_lindley():
    arrivals = poisson(8.0, 2000, 3)
    lengths = np.random.default_rng(4).integers(10, 200, 2000)
    wait, expected = 0.0, []
    for row in range(2000):
        expected.append(wait)
        if row < 1999:
            wait = max(0.0, wait + lengths[row] * 1e-3 - (arrivals[row + 1] - arrivals[row]))
    np.testing.assert_allclose(waits(arrivals, lengths), expected, atol=1e-9)


def test_least_loaded_waits_less_than_round_robin_where_prompts_differ():
    lengths = np.random.default_rng(5).choice([20, 600], 4000, p=[0.9, 0.1])
    arrivals = poisson(30.0, 4000, 6)
    assert waits(arrivals, lengths, 4, "least_loaded").mean() < 0.7 * waits(arrivals, lengths, 4).mean()
