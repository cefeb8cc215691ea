"""What must hold of any replay: conservation, the split of time, Little's law, monotonicity, the same
numbers.
"""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.workload.generate import generate_requests
from tests.simulator.fakes import FakeTimer

TIMER = FakeTimer(step_s=0.008, sequence_s=2e-5, context_s=1e-8, token_s=2e-5)
LINK = LinkSpec(1e-3, 5e9, 5e9, overlap_layers=32)


def traffic(requests=600, rate_per_s=8.0, seed=1):
    workload = Workload(rate_per_s=rate_per_s, input_tokens=1155, output_tokens=211)
    return generate_requests(workload, requests, seed)


def colocated(given, options=None, **changes):
    spec = EngineSpec(TIMER, **{"instances": 2, "kv_blocks": 3000, **changes})
    return Colocated(spec, given, options or SimulationOptions()).run()


def disaggregated(given, options=None, link=LINK, **changes):
    prefill = PrefillSpec(TIMER, instances=1, kv_blocks=2000)
    decode = EngineSpec(TIMER, **{"instances": 1, "kv_blocks": 3000, **changes})
    moved = (given.input_tokens * 131072.0).tolist()
    return Disaggregated(prefill, decode, link, False, moved, given, options or SimulationOptions()).run()


def replays():
    given = traffic()
    closed = SimulationOptions(closed_loop_concurrency=40)
    return {
        "colocated": colocated(given),
        "closed": colocated(given, closed),
        "disaggregated": disaggregated(given),
        "slow link": disaggregated(given, link=replace(LINK, egress_byte_per_s=4e8)),
        "short of memory": colocated(given, kv_blocks=400),
        "cut off": disaggregated(given, SimulationOptions(horizon_s=30.0)),
    }


def remainder(result):
    return [
        usage.prefill_busy_s.sum()
        + usage.decode_busy_s.sum()
        + usage.transfer_blocked_s.sum()
        + usage.idle_s.sum()
        - usage.instances * result.simulated_s
        for usage in result.pools.values()
    ]


def test_requests_and_tokens_are_conserved():
    for name, result in replays().items():
        status = result.records["status"]
        assert set(status.tolist()) <= {"completed", "refused", "unfinished"}
        if name == "cut off":
            continue
        done = status == "completed"
        assert not (status == "unfinished").any()
        assert np.isfinite(result.records["finish_s"][done]).all()
        assert result.itl_gaps.sum() == (result.records["output_tokens"][done] - 1).sum()
        times = ("arrival_s", "prefill_start_s", "prefill_end_s", "first_token_s", "finish_s")
        ordered = np.array([result.records[each][done] for each in times])
        assert (np.diff(ordered, axis=0) >= 0).all()
        # Every gap between two tokens of a request adds up to its decode time.
        decode_s = (result.records["finish_s"] - result.records["first_token_s"])[done].sum()
        assert result.itl_sum_s == pytest.approx(decode_s, rel=1e-9)


def test_bytes_are_conserved():
    given = traffic()
    for link in (LINK, replace(LINK, overlap_layers=0)):
        result = disaggregated(given, link=link)
        assert result.bytes_moved == pytest.approx(given.input_tokens.sum() * 131072.0, rel=1e-12)
        assert result.link["egress"].sum() == pytest.approx(result.bytes_moved / 5e9)


def test_time_splits_without_a_remainder():
    for result in replays().values():
        assert remainder(result) == pytest.approx([0.0] * len(result.pools), abs=1e-8)


def test_a_lost_idle_interval_shows():
    result = disaggregated(traffic(100, rate_per_s=1.0))
    for name, usage in result.pools.items():
        assert len(usage.idle_start_s) > 2
        for row in (0, len(usage.idle_start_s) // 2, -1):
            lost = replace(
                usage,
                idle_instance=np.delete(usage.idle_instance, row),
                idle_start_s=np.delete(usage.idle_start_s, row),
                idle_end_s=np.delete(usage.idle_end_s, row),
            )
            pools = {**result.pools, name: lost}
            assert max(map(abs, remainder(replace(result, pools=pools)))) > 1e-6


def test_a_closed_loop_keeps_its_number_in_flight():
    result = colocated(traffic(), SimulationOptions(closed_loop_concurrency=40))
    arrival, finish = np.sort(result.records["arrival_s"]), np.sort(result.records["finish_s"])
    assert (arrival == 0.0).sum() == 40
    assert arrival[40:] == pytest.approx(finish[: len(arrival) - 40])


def test_littles_law():
    given = traffic(3000, rate_per_s=6.0)
    result = colocated(given, SimulationOptions(samples=2000))
    records, series = result.records, result.series
    inside = series["time_s"] < given.arrival_s[-1]
    decoding_s = (records["finish_s"] - records["first_token_s"]).mean()
    rate = len(given) / given.arrival_s[-1]
    assert series["batch"][inside].mean() == pytest.approx(rate * decoding_s, rel=0.05)


def test_more_of_anything_good_is_not_worse():
    given = traffic(rate_per_s=12.0)

    def mean_s(result, until="finish_s"):
        return (result.records[until] - result.records["arrival_s"]).mean()

    by_link = [
        mean_s(disaggregated(given, link=replace(LINK, egress_byte_per_s=rate)), "first_token_s")
        for rate in (1e9, 2e9, 5e9, 5e10)
    ]
    assert by_link == sorted(by_link, reverse=True)
    by_instances = [mean_s(colocated(given, instances=count)) for count in (1, 2, 4)]
    assert by_instances == sorted(by_instances, reverse=True)
    by_rate = [mean_s(colocated(traffic(rate_per_s=rate))) for rate in (2.0, 8.0, 20.0)]
    assert by_rate == sorted(by_rate)


def test_results_arrive_in_si_arrays_of_one_length():
    result = disaggregated(traffic(50))
    assert {len(column) for column in result.records.values()} == {50}
    assert list(result.records)[:3] == ["request_id", "status", "arrival_s"]
    assert {len(each) for each in result.series.values()} == {len(result.series["time_s"])}
    assert result.counted.all()


def digest():
    result, other = colocated(traffic(200)), disaggregated(traffic(200))
    content = b"".join(column.tobytes() for column in (*result.records.values(), *other.records.values()))
    return hashlib.sha256(content).hexdigest()


def test_the_same_numbers_in_other_processes_and_hash_seeds():
    command = [sys.executable, "-c", "from tests.simulator.test_laws import digest; print(digest())"]
    digests = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {digest()}
