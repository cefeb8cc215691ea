import numpy as np
import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.disaggregated import decode_at, decode_capacity, disaggregated_flow, prefill_capacity
from pdexplorer.steady.load import Load, load_of
from pdexplorer.steady.split_designs import DisaggregatedDesigns, Wire, every_pair
from pdexplorer.steady.split_parts import LinkFlow, decode_flow, link_flow, prefill_flow
from tests.steady.engine import DECODE_S, PER_TOKEN_S, table

ONE = np.ones((1, 1, 1, 1))


def _wire(load: Load, byte_per_s: float, overlap: bool = True) -> Wire:
    moved = (load.input_tokens * 1e5)[:, None, None]
    ends = np.full((1, 1, 1, 1), byte_per_s)
    return Wire(moved, ends, ends, np.full((1, 1), 0.001), 1.0, overlap, 32)


def _designs(
    byte_per_s: float = 5e10, overlap: bool = True, batch_tokens: float = 4000, pp: int = 1, **values: object
) -> DisaggregatedDesigns:
    workload = {"input_tokens": 4000, "output_tokens": 201, "input_distribution": "fixed", **values}
    load = load_of(Scenario.model_validate({"workload": workload}))
    return every_pair(
        load, table(pp=pp), table(), _wire(load, byte_per_s, overlap), batch_tokens, 256.0, True
    )


def _ttft(designs: DisaggregatedDesigns, rate: float, prefill: float, decode: float) -> float:
    flow = disaggregated_flow(
        designs, ONE * rate / prefill, ONE * prefill, decode_at(designs, ONE * rate / decode, ONE * decode)
    )
    return float((flow.after_s + flow.wait_s + designs.load.over(flow.service_s)).item())


def test_prefill_queue_is_pollaczek_khinchine_for_single_prompts() -> None:
    designs = _designs()
    service = DECODE_S + 4000 * PER_TOKEN_S
    flow = prefill_flow(designs, ONE * 0.7 / service, ONE)
    assert flow.busy.item() == pytest.approx(0.7)
    assert flow.wait_s.item() == pytest.approx(0.7 * service / (2 * 0.3), rel=1e-6)


def test_more_prefill_never_shortens_a_lone_request() -> None:
    designs = _designs()
    lone = [_ttft(designs, 1e-6, count, 1.0) for count in (1.0, 2.0, 8.0)]
    assert lone[0] == pytest.approx(lone[1], abs=1e-6) == pytest.approx(lone[2], abs=1e-6)
    assert _ttft(designs, 2.0, 1.0, 1.0) > _ttft(designs, 2.0, 2.0, 1.0)


def test_short_prompts_share_steps() -> None:
    """200 tokens take 30 ms alone, of which 10 ms are weights: full steps carry about half as many again."""
    alone = _designs(input_tokens=200, batch_tokens=200.0)
    shared = _designs(input_tokens=200, batch_tokens=8192.0)
    assert shared.full_s.item() < 0.75 * alone.full_s.item()


def test_a_step_as_large_as_may_be_asked_costs_no_less_than_its_tokens() -> None:
    usual = _designs(input_tokens=8000, batch_tokens=65_536.0)
    huge = _designs(input_tokens=8000, batch_tokens=1_000_000.0)
    assert usual.full_s.item() >= huge.full_s.item() >= 8000 * PER_TOKEN_S
    assert huge.most_prompts.item() == 125


def test_overlap_hides_the_transfer_and_a_slow_link_shows() -> None:
    streamed, whole = _designs(), _designs(overlap=False)
    slow = _designs(5e8)
    assert _ttft(streamed, 0.1, 1, 1) < _ttft(whole, 0.1, 1, 1) < _ttft(slow, 0.1, 1, 1)


def test_decode_follows_littles_law() -> None:
    designs = _designs()
    flow = decode_at(designs, ONE * 2.0, ONE)
    assert flow.rate_per_s.item() == pytest.approx(2.0, rel=1e-10)
    assert flow.in_flight.item() == pytest.approx(
        2.0 * designs.decode_steps.item() * flow.step_s.item(), rel=1e-10
    )


def test_capacity_holds_the_limits() -> None:
    designs = _designs()
    running = decode_capacity(designs)
    in_flight, fits = running.x, running.fits
    decode = decode_flow(designs, in_flight, None)
    most = prefill_capacity(designs, decode)
    rate, carried = most.x, most.fits
    assert fits.all()
    assert carried.all()
    flow = disaggregated_flow(designs, rate, np.maximum(designs.load.rate_per_s / rate, 1.0), decode)
    assert flow.attained.item() >= 0.95


def test_the_next_prompt_enters_a_pipeline_once_its_first_stage_is_free() -> None:
    """Three stages hold 3/5 of the step that physics gives them; the rest delays the prompt itself only."""
    one, three = (_designs(pp=pp) for pp in (1, 3))
    assert np.array_equal(three.lone_s, one.lone_s)
    assert three.full_s.item() == pytest.approx(0.6 * one.full_s.item())
    rate = ONE / one.full_s.item()
    slow, fast = (prefill_flow(designs, 0.7 * rate, ONE) for designs in (one, three))
    assert fast.busy.item() == pytest.approx(0.6 * slow.busy.item())
    service = 0.6 * (DECODE_S + 4000 * PER_TOKEN_S)
    assert fast.wait_s.item() == pytest.approx(0.42 * service / (2 * 0.58), rel=1e-6)
    assert np.allclose(fast.service_s, one.lone_s)


def _link(designs: DisaggregatedDesigns, rate: float, senders: float, receivers: float) -> LinkFlow:
    prefill = prefill_flow(designs, ONE * rate / senders, ONE * senders)
    return link_flow(designs, ONE * rate / senders, ONE * rate / receivers, prefill, ONE * senders)


def test_transfers_of_many_senders_queue_at_a_lone_receiver() -> None:
    """4,000 tokens of 100 kB at 1 GB/s take 0.4 s: Pollaczek and Khinchine at the receiver."""
    designs = _designs(1e9, overlap=False)
    rate = 0.8 / 0.4
    found = _link(designs, rate, 20.0, 1.0)
    assert found.busy.item() == pytest.approx(0.8)
    assert found.wait_s.item() == pytest.approx(0.8 * 0.4 / (2 * 0.2), rel=0.02)
    assert _link(designs, rate, 20.0, 4.0).wait_s.item() < 0.1 * found.wait_s.item()


def test_a_lone_sender_spaces_its_transfers() -> None:
    """Behind a prefill as slow as the transfer nothing waits again."""
    designs = _designs(1e9, overlap=False)
    assert _link(designs, 1.0, 1.0, 1.0).wait_s.item() < _link(designs, 1.0, 8.0, 1.0).wait_s.item()
