"""Transfers of a disaggregated fleet by hand: contention, overlap, memory, where the first token comes
from.
"""

from dataclasses import replace

import numpy as np
import pytest
import simpy

from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.events import Call
from pdexplorer.simulator.link import Flow, Link
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from tests.simulator.fakes import FakeTimer, requests_of

TIMER = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-3)
MEGABYTE = 1e6


def run(given, link, size_bytes, *, first_from_prefill=False, options=None, prefill=None, decode=None):
    return Disaggregated(
        PrefillSpec(TIMER, **{"instances": 1, "kv_blocks": 1000, **(prefill or {})}),
        EngineSpec(TIMER, **{"instances": 1, "kv_blocks": 1000, **(decode or {})}),
        link,
        first_from_prefill,
        [size_bytes] * len(given),
        given,
        options or SimulationOptions(),
    ).run()


def test_one_request_end_to_end():
    link = LinkSpec(0.002, 10 * MEGABYTE, 20 * MEGABYTE)
    options = SimulationOptions(router_overhead_s=0.003)
    records = run(requests_of([0.0], 90, 4), link, MEGABYTE, options=options).records
    assert records["prefill_start_s"][0] == pytest.approx(0.003)
    assert records["prefill_end_s"][0] == pytest.approx(0.103)
    assert records["transfer_end_s"][0] == pytest.approx(0.103 + 0.1 + 0.002)
    assert records["first_token_s"][0] == pytest.approx(records["transfer_end_s"][0] + 0.003 + 0.01)
    assert records["finish_s"][0] == pytest.approx(records["first_token_s"][0] + 0.03)


def test_first_token_from_prefill_comes_before_the_transfer():
    link = LinkSpec(0.0, MEGABYTE, MEGABYTE)
    result = run(requests_of([0.0, 5.0], 90, [4, 1]), link, MEGABYTE, first_from_prefill=True)
    records = result.records
    assert records["first_token_s"] == pytest.approx([0.1, 5.1])
    assert records["finish_s"] == pytest.approx([0.1 + 1.0 + 3 * 0.01, 5.1])
    assert np.isnan(records["transfer_end_s"][1])
    assert result.itl_bin_s.max() == pytest.approx(1.01, abs=2e-4)
    assert result.itl_gaps.sum() == 3


def test_a_pipeline_takes_the_next_prompt_before_the_last_one_is_through():
    link = LinkSpec(0.0, 1e12, 1e12)
    given = requests_of([0.0, 0.0], 90, 2)
    records = run(given, link, 0.0, prefill={"batch_tokens": 90, "held_share": 0.6}).records
    assert records["prefill_start_s"] == pytest.approx([0.0, 0.06])
    assert records["prefill_end_s"] == pytest.approx([0.1, 0.16])
    whole = run(given, link, 0.0, prefill={"batch_tokens": 90}).records
    assert whole["prefill_end_s"] == pytest.approx([0.1, 0.2])


@pytest.mark.parametrize("rate_byte_per_s", [3 * MEGABYTE, 50 * MEGABYTE])
def test_layers_stream_under_prefill(rate_byte_per_s):
    link = LinkSpec(0.001, rate_byte_per_s, 1e12, overlap_layers=10)
    result = run(requests_of([0.0], 190, 2), link, MEGABYTE)
    wire_s, prefill_s = MEGABYTE / rate_byte_per_s, 0.2
    exposed_s = 0.001 + max(wire_s / 10, wire_s - prefill_s * 9 / 10)
    assert result.kv_exposed_s[0] == pytest.approx(exposed_s)
    assert result.bytes_moved == pytest.approx(MEGABYTE)


def times_of(times, env):
    return lambda row: times.update({row: env.now})


def ends(spec, flows, prefills=2, decodes=2):
    """End of each transfer (start, prefill instance, decode instance, bytes)."""
    env, times = simpy.Environment(), {}
    link = Link(env, spec, prefills, decodes)
    for row, (start_s, prefill, decode, size_bytes) in enumerate(flows):
        flow = Flow(prefill, decode, size_bytes, times_of(times, env), row)
        Call(env, start_s, (lambda event, flow=flow: link.send(flow),))
    env.run()
    assert link.bytes_moved == pytest.approx(sum(flow[3] for flow in flows))
    return [times[row] for row in range(len(flows))]


def test_two_transfers_queue_at_the_egress():
    spec = LinkSpec(0.0, 10.0, 1e9)
    assert ends(spec, [(0, 0, 0, 100), (0, 0, 1, 100), (0, 1, 1, 100)]) == pytest.approx([10, 20, 10])


def test_two_transfers_share_the_ingress():
    spec = LinkSpec(0.0, 10.0, 10.0)
    assert ends(spec, [(0, 0, 0, 100), (0, 1, 0, 100)]) == pytest.approx([20, 20])
    # The second comes when half of the first is through, and has the port to itself at the end.
    assert ends(spec, [(0, 0, 0, 100), (5, 1, 0, 100)]) == pytest.approx([15, 20])


def test_an_oversubscribed_fabric_is_shared():
    spec = LinkSpec(0.0, 10.0, 1e9, fabric_fraction=0.5)
    assert ends(spec, [(0, 0, 0, 100), (0, 1, 1, 100)]) == pytest.approx([20, 20])
    assert ends(spec, [(0, 0, 0, 100), (5, 1, 1, 25)]) == pytest.approx([12.5, 10])


def test_one_busy_fabric_leaves_slower_transfers_their_rate():
    # Three of the four enter one narrow port at 2 each; the fourth gets the rest of the fabric, 14, up to 10.
    spec = LinkSpec(0.0, 10.0, 6.0, fabric_fraction=0.25)
    flows = [(0, 0, 0, 20), (0, 1, 0, 20), (0, 2, 0, 20), (0, 3, 1, 40)]
    assert ends(spec, flows, prefills=4)[:3] == pytest.approx([10, 10, 10])
    assert ends(spec, flows, prefills=4)[3] == pytest.approx(10)


def test_a_throttled_link_serves_one_after_the_other():
    flows = [(0, 0, 0, 100), (0, 1, 0, 100), (0, 1, 1, 100)]
    shared, throttled = LinkSpec(0.0, 10.0, 10.0), LinkSpec(0.0, 10.0, 10.0, transfers_at_once=1)
    assert ends(shared, flows) == pytest.approx([20, 20, 30])
    # The first is through in half the time, nobody is later; the port of the second waits with it.
    assert ends(throttled, flows) == pytest.approx([10, 20, 30])
    assert ends(LinkSpec(0.0, 10.0, 10.0, transfers_at_once=2), flows) == pytest.approx([20, 20, 30])
    narrow = LinkSpec(0.0, 10.0, 1e9, fabric_fraction=0.5, transfers_at_once=1)
    assert ends(narrow, flows[:2]) == pytest.approx([10, 20])


def test_a_throttled_link_goes_on_after_transfers_given_up():
    env, times = simpy.Environment(), {}
    link = Link(env, LinkSpec(0.0, 10.0, 10.0, transfers_at_once=1), 3, 1)
    flows = [Flow(port, 0, 100, times_of(times, env), row) for row, port in enumerate((0, 1, 1, 2))]
    for flow in flows:
        link.send(flow)
    Call(env, 1.0, (lambda event: link.cancel(flows[1]),))  # waits at the decode instance
    Call(env, 2.0, (lambda event: link.cancel(flows[0]),))  # under way
    env.run()
    assert times == {2: pytest.approx(22.0), 3: pytest.approx(12.0)}


def test_a_throttled_fleet_gives_its_first_tokens_earlier():
    given = requests_of([0.0, 0.0], 100, 2)
    link = LinkSpec(0.0, MEGABYTE, MEGABYTE)
    first_s = [
        run(
            given,
            replace(link, transfers_at_once=at_once),
            MEGABYTE,
            prefill={"instances": 2},
            options=SimulationOptions(routing="round_robin"),
        ).records["first_token_s"]
        for at_once in (None, 1)
    ]
    assert first_s[0] == pytest.approx([0.11 + 2.0 + 0.01] * 2)
    assert first_s[1] == pytest.approx([0.11 + 1.0 + 0.01, 0.11 + 2.0 + 0.01])


def test_a_slow_link_blocks_prefill_through_its_memory():
    link = LinkSpec(0.0, MEGABYTE, MEGABYTE)
    given = requests_of([0.0, 0.0, 0.0], 160, 2)
    result = run(given, link, MEGABYTE, prefill={"kv_blocks": 10})
    records = result.records
    assert records["prefill_start_s"][1:] == pytest.approx(records["transfer_end_s"][:-1])
    prefill, decode = result.pools["prefill"], result.pools["decode"]
    assert prefill.transfer_blocked_s[0] == pytest.approx(2.0)
    # Decode waits for each transfer, but goes on decoding into the next prefill.
    assert decode.transfer_blocked_s[0] == pytest.approx(3.0)


def test_decode_memory_holds_transfers_back():
    link = LinkSpec(0.0, 1e9, 1e9)
    result = run(requests_of([0.0, 0.0], 80, 40), link, 1.0, decode={"kv_blocks": 8})
    records = result.records
    assert records["transfer_start_s"][1] >= records["finish_s"][0]
    assert result.pools["prefill"].transfer_blocked_s[0] == pytest.approx(0.0, abs=1e-6)


def test_too_long_for_either_pool_is_refused():
    link = LinkSpec(0.0, 1e9, 1e9)
    given = requests_of([0.0, 0.0, 0.0], [170, 100, 100], [1, 100, 10])
    result = run(given, link, 1.0, prefill={"kv_blocks": 10}, decode={"kv_blocks": 12})
    assert result.records["status"].tolist() == ["refused", "refused", "completed"]
