"""Macro-steps equal the step-by-step engine to 1e-9, on random small scenarios."""

import numpy as np
import pytest

from pdexplorer.simulator.batch import DecodeBatch
from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from tests.simulator.fakes import FakeTimer, requests_of
from tests.simulator.reference import StepEngine

TOLERANCE = 1e-9
TIMES = (
    "prefill_start_s",
    "prefill_end_s",
    "transfer_start_s",
    "transfer_end_s",
    "first_token_s",
    "finish_s",
)


def scenario(seed):
    """A random timer, engine spec and requests; about half short of KV, half with a window."""
    draw = np.random.default_rng(seed)
    timer = FakeTimer(
        step_s=draw.uniform(1e-3, 2e-2),
        sequence_s=draw.uniform(0, 1e-3),
        context_s=draw.choice([0.0, draw.uniform(0, 1e-5)]),
        window_context_s=draw.uniform(0, 1e-5),
        token_s=draw.uniform(1e-5, 1e-3),
        pair_s=draw.uniform(0, 1e-7),
        window_tokens=int(draw.integers(20, 200)) if seed % 2 else None,
    )
    requests = int(draw.integers(1, 40))
    inputs = draw.integers(1, 300, requests)
    block_tokens = int(draw.choice([1, 4, 16]))
    tokens = int(draw.choice([400, 900, 5000]))
    spec = EngineSpec(
        timer,
        instances=int(draw.integers(1, 3)),
        kv_blocks=tokens // block_tokens,
        block_tokens=block_tokens,
        max_batch=int(draw.choice([2, 5, 64])),
        chunk_tokens=int(draw.choice([8, 64, 512])),
        policy=str(draw.choice(["chunked", "prefill_first", "unchunked"])),
        watermark_blocks=int(draw.integers(0, 3)),
    )
    arrivals = np.cumsum(draw.exponential(draw.choice([0.01, 0.1, 1.0]), requests))
    cached = np.minimum(inputs - 1, draw.integers(0, 200, requests) * draw.integers(0, 2, requests))
    given = requests_of(arrivals, inputs, draw.integers(1, 150, requests), cached)
    concurrency = int(draw.integers(1, 20)) if seed % 5 == 0 else None
    overhead = 0.003 if seed % 3 else 0.0
    options = SimulationOptions(
        routing="round_robin" if seed % 4 else "least_loaded",
        router_overhead_s=overhead,
        closed_loop_concurrency=concurrency,
        samples=20,
    )
    return draw, timer, spec, given, options


def assert_same(macro, steps):
    assert macro.records["status"].tolist() == steps.records["status"].tolist()
    for name in TIMES:
        np.testing.assert_allclose(macro.records[name], steps.records[name], atol=TOLERANCE, rtol=0)
    for name in ("preemptions", "prefill_instance", "decode_instance"):
        assert macro.records[name].tolist() == steps.records[name].tolist()
    assert macro.itl_gaps.sum() == steps.itl_gaps.sum()
    assert macro.itl_sum_s == pytest.approx(steps.itl_sum_s, rel=1e-9, abs=1e-12)
    for pool, usage in macro.pools.items():
        for name in ("prefill_busy_s", "decode_busy_s", "transfer_blocked_s", "idle_s"):
            np.testing.assert_allclose(getattr(usage, name), getattr(steps.pools[pool], name), atol=1e-8)


@pytest.mark.parametrize("block", range(10))
def test_colocated(block):
    for seed in range(30 * block, 30 * block + 30):
        _, _, spec, given, options = scenario(seed)
        assert_same(Colocated(spec, given, options).run(), Colocated(spec, given, options, StepEngine).run())


def pools(seed):
    draw, timer, decode, given, options = scenario(seed)
    prefill = PrefillSpec(timer, int(draw.integers(1, 3)), int(draw.choice([400, 5000])), 1, 256)
    link = LinkSpec(
        latency_s=draw.uniform(0, 0.01),
        egress_byte_per_s=draw.uniform(1e3, 1e5),
        ingress_byte_per_s=draw.uniform(1e3, 1e5),
        fabric_fraction=draw.uniform(0.3, 1.0),
        overlap_layers=int(draw.choice([0, 4])),
    )
    moved = (given.input_tokens * draw.uniform(1, 30)).tolist()
    return prefill, decode, link, bool(seed % 2), moved, given, options


@pytest.mark.parametrize("block", range(10))
def test_disaggregated(block):
    for seed in range(1000 + 20 * block, 1000 + 20 * block + 20):
        arguments = pools(seed)
        assert_same(Disaggregated(*arguments).run(), Disaggregated(*arguments, StepEngine).run())


def test_scenarios_reach_the_hard_parts():
    preempted = crossed = 0
    for seed in range(60):
        _, timer, spec, given, options = scenario(seed)
        result = Colocated(spec, given, options).run()
        preempted += result.records["preemptions"].sum() > 0
        window = timer.window_tokens
        crossed += window is not None and bool(
            ((given.input_tokens < window) & (given.input_tokens + given.output_tokens > window)).any()
        )
    assert preempted > 5
    assert crossed > 10


def test_without_the_stop_at_a_window_crossing_the_engines_differ(monkeypatch):
    def steps_ahead(batch):
        steps = batch.finishes[0][0] - batch.iteration
        return batch.kv.steps_that_fit(batch.iteration, steps, batch.size)

    monkeypatch.setattr(DecodeBatch, "steps_ahead", steps_ahead)
    timer = FakeTimer(window_context_s=1e-5, window_tokens=120)
    spec, given = EngineSpec(timer, 1, 100), requests_of([0.0], 100, 50)
    with pytest.raises(AssertionError):
        assert_same(
            Colocated(spec, given, SimulationOptions()).run(),
            Colocated(spec, given, SimulationOptions(), StepEngine).run(),
        )
