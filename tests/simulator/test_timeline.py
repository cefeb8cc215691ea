"""Requests kept in full, and static batches."""

import numpy as np
import pytest

from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.workload.requests import by_length
from tests.simulator.fakes import FakeTimer, requests_of

TIMER = FakeTimer(step_s=0.01, sequence_s=0.0, context_s=0.0, token_s=1e-4)


def run(given, traced=(0,), **spec):
    defaults = {"instances": 1, "kv_blocks": 10_000}
    options = SimulationOptions(trace_requests=traced)
    return Colocated(EngineSpec(TIMER, **{**defaults, **spec}), given, options).run()


def test_the_stall_from_someone_elses_prefill_is_one_gap():
    given = requests_of([0.0, 0.1], [100, 5000], [20, 1])
    result = run(given, policy="unchunked", chunk_tokens=8192)
    line = result.timelines[0]
    assert set(result.timelines) == {0}
    assert len(line.itl_s) == 19
    assert line.itl_s.max() == pytest.approx(0.01 + 0.5 + 0.01)
    assert np.sort(line.itl_s)[:-1] == pytest.approx(0.01)
    assert [span[0] for span in line.spans] == ["prefill", "decode"]


def test_spans_of_a_waiting_chunked_and_preempted_request():
    given = requests_of([0.0, 0.0], 64, 64)
    line = run(given, (1,), kv_blocks=12, chunk_tokens=40, max_batch=2).timelines[1]
    names = [span[0] for span in line.spans]
    assert names[0] == "queued"
    assert names.count("decode") == 2
    assert names.count("prefill") >= 4
    assert all(start_s <= end_s for _, start_s, end_s in line.spans)
    assert len(line.token_s) == 64
    assert (np.diff(line.token_s) > 0).all()


@pytest.mark.parametrize("first_from_prefill", [True, False])
def test_a_transfer_in_the_timeline(first_from_prefill):
    given = requests_of([0.0], 100, 4)
    result = Disaggregated(
        PrefillSpec(TIMER, 1, 1000),
        EngineSpec(TIMER, 1, 1000),
        LinkSpec(0.0, 1e6, 1e6),
        first_from_prefill,
        [1e6],
        given,
        SimulationOptions(trace_requests=(0,)),
    ).run()
    line = result.timelines[0]
    assert [span[0] for span in line.spans] == ["prefill", "transfer", "decode"]
    assert line.spans[1][1:] == pytest.approx((0.02, 1.02))
    assert len(line.token_s) == 4
    assert line.token_s[0] == pytest.approx(0.02 if first_from_prefill else 1.03)


def test_a_static_batch_waits_for_its_longest_answer():
    given = requests_of([0.0] * 4, 100, [10, 50, 10, 50])
    records = run(given, policy="static", max_batch=2, chunk_tokens=8192).records
    assert records["prefill_start_s"][:2] == pytest.approx([0.0, 0.0])
    assert records["prefill_start_s"][2:] == pytest.approx(records["finish_s"][1])
    sorted_s = (
        run(by_length(given), policy="static", max_batch=2, chunk_tokens=8192).records["finish_s"].max()
    )
    assert sorted_s < records["finish_s"].max()
    continuous = run(given, max_batch=2, chunk_tokens=8192).records["finish_s"].max()
    assert continuous < records["finish_s"].max()
