"""The mixture of mixed and decode-only steps, on an engine whose step times are known."""

import numpy as np
import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.colocated import ColocatedDesigns, colocated_flow, every_design
from pdexplorer.steady.colocated_capacity import colocated_at, colocated_capacity, colocated_wait
from pdexplorer.steady.load import load_of
from tests.steady.engine import DECODE_S, PER_TOKEN_S, table

FIXED = {"input_distribution": "fixed", "output_distribution": "fixed"}


def _designs(policy: str = "chunked", budget: float = 1024, **workload: object) -> ColocatedDesigns:
    values = {"input_tokens": 4000, "output_tokens": 201, **FIXED, **workload}
    load = load_of(Scenario.model_validate({"workload": values}))
    return every_design(load, table(), np.array([budget]), policy, 256.0)


def _full(designs: ColocatedDesigns, in_flight: float):  # type: ignore[no-untyped-def]
    return colocated_flow(designs, np.full((1, 1, 1, 1), in_flight))


@pytest.mark.parametrize("policy", ["chunked", "prefill_first", "unchunked"])
def test_steps_fill_the_clock_and_littles_law_holds(policy: str) -> None:
    flow = _full(_designs(policy), 12.0)
    rate, active = flow.rate_per_s.item(), flow.active.item()
    mixed = rate * flow.mixed_steps.item() * active
    tokens = rate * 200 / flow.batch.item()
    pure = tokens - (mixed if policy == "chunked" else 0.0)
    assert mixed * flow.mixed_s.item() + pure * flow.step_s.item() == pytest.approx(active, rel=1e-12)
    assert rate * 200 * flow.tpot_s.item() == pytest.approx(12.0, rel=1e-12)


def test_no_more_prompts_than_steps_that_are_all_mixed() -> None:
    designs = _designs(output_tokens=3)
    for in_flight in (20.0, 60.0, 250.0):
        flow = _full(designs, in_flight)
        rate = flow.rate_per_s.item()
        assert rate * flow.mixed_steps.item() * flow.mixed_s.item() <= 1.0 + 1e-9
        assert rate * 2 * flow.tpot_s.item() == pytest.approx(in_flight, rel=1e-12)
    assert _full(designs, 250.0).utilisation.item() > 1.0


def test_prefill_is_not_hidden_under_weight_reads() -> None:
    """12 requests in flight; spreading 4,000 prompt tokens over all 200 steps of a request would be near
    free.
    """
    flow = _full(_designs(), 12.0)
    alone = DECODE_S
    assert flow.tpot_s.item() > alone + 12 / 200 * 4000 * PER_TOKEN_S * 0.99
    assert flow.mixed_s.item() > alone + 900 * PER_TOKEN_S


def test_smaller_chunks_shorten_the_worst_step_and_lengthen_prefill() -> None:
    small, large = _full(_designs(budget=512), 8.0), _full(_designs(budget=4096), 8.0)
    assert small.mixed_s.item() < large.mixed_s.item()
    assert small.service_s.max() > large.service_s.max()


def test_capacity_holds_the_limits_and_falls_with_them() -> None:
    rates = []
    for tpot_ms in (15, 30, 60):
        load = load_of(
            Scenario.model_validate({"slo": {"tpot_ms": tpot_ms}, "workload": {"rate_per_s": 1.0}})
        )
        designs = every_design(load, table(), np.array([512.0, 2048.0]), "chunked", 256.0)
        found = colocated_capacity(designs)
        in_flight, fits = found.x, found.fits
        rates.append(float(np.where(fits, colocated_flow(designs, in_flight).rate_per_s, 0.0).max()))
    assert rates[0] < rates[1] < rates[2]


def test_memory_limits_the_batch() -> None:
    scenario = Scenario.model_validate(
        {"slo": {"tpot_ms": "none", "ttft_s": "none"}, "workload": dict(FIXED)}
    )
    load = load_of(scenario)
    context = load.context_tokens.item()
    designs = every_design(load, table(kv_tokens=10 * context), np.array([2048.0]), "chunked", 256.0)
    found = colocated_capacity(designs)
    in_flight, fits = found.x, found.fits
    assert fits.all()
    assert in_flight.item() < 10.0


def test_state_at_a_load_meets_it() -> None:
    designs = _designs()
    one = np.ones((1, 1, 1, 1))
    in_flight = colocated_at(designs, 0.7 * one, one)
    assert colocated_flow(designs, in_flight).rate_per_s.item() == pytest.approx(0.7, rel=1e-10)


def test_closed_loop_meets_littles_law() -> None:
    designs = _designs(arrivals="closed_loop", concurrency=6)
    one = np.ones((1, 1, 1, 1))
    in_flight = colocated_at(designs, 6 * one, one)
    flow = colocated_flow(designs, in_flight)
    wait = colocated_wait(designs, flow, one)
    residence = wait.mean_s + wait.after_s + wait.service_mean_s + 200 * flow.tpot_s
    assert (flow.rate_per_s * residence).item() == pytest.approx(6.0, rel=1e-9)
