"""Seeded streams: independent, repeatable, with the traffic asked for."""

import numpy as np
import pytest

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.generate import generate_requests

AZURE = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:00:00.0000000,10,2\r\n"
    "2023-11-16 18:00:04.5000001,20,3\r\n2023-11-16 18:00:06.0000000,30,4"
)


def test_same_seed_same_requests():
    first, second, other = (generate_requests(Workload(), 50, seed) for seed in (1, 1, 2))
    assert first.arrival_s.tolist() == second.arrival_s.tolist()
    assert first.input_tokens.tolist() == second.input_tokens.tolist()
    assert first.arrival_s.tolist() != other.arrival_s.tolist()


def test_streams_are_independent():
    plain = generate_requests(Workload(), 50, 1)
    changed = generate_requests(Workload(output_distribution="fixed", prefix_hit_fraction=0.5), 50, 1)
    assert plain.arrival_s.tolist() == changed.arrival_s.tolist()
    assert plain.input_tokens.tolist() == changed.input_tokens.tolist()


@pytest.mark.parametrize(("burstiness", "variation"), [(0.25, 2.0), (1.0, 1.0), (4.0, 0.5)])
def test_gamma_arrivals(burstiness, variation):
    workload = Workload(arrivals="gamma", burstiness=burstiness, rate_per_s=5)
    gaps = np.diff(generate_requests(workload, 20_000, 3).arrival_s)
    assert gaps.mean() == pytest.approx(0.2, rel=0.05)
    assert gaps.std() / gaps.mean() == pytest.approx(variation, rel=0.05)


def test_rate_scale():
    assert generate_requests(Workload(), 9, 1, rate_scale=4.0).arrival_s * 4 == pytest.approx(
        generate_requests(Workload(), 9, 1).arrival_s
    )


def test_prefix_hits_are_a_mixture():
    requests = generate_requests(Workload(prefix_hit_fraction=0.3, warm_fraction=0.4), 20_000, 1)
    warm = requests.cached_tokens > 0
    assert warm.mean() == pytest.approx(0.4, abs=0.02)
    share = requests.cached_tokens.sum() / requests.input_tokens.sum()
    assert share == pytest.approx(0.3, abs=0.02)
    assert (requests.cached_tokens < requests.input_tokens).all()
    all_hit = generate_requests(Workload(prefix_hit_fraction=0.5, warm_fraction=0.5), 500, 1)
    assert (all_hit.cached_tokens < all_hit.input_tokens).all()


def test_closed_loop_and_batch_jobs_have_no_times_of_their_own():
    assert (generate_requests(Workload(mode="offline"), 5, 1).arrival_s == 0).all()
    assert (generate_requests(Workload(arrivals="closed_loop"), 5, 1).arrival_s == 0).all()


def test_a_trace_in_order_and_its_lengths_at_random(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_bytes(AZURE.encode())
    trace = {"input_distribution": "trace", "output_distribution": "trace", "trace_file": str(path)}
    replay = generate_requests(Workload(arrivals="trace", **trace), 10, 1, rate_scale=2.0)
    assert replay.arrival_s == pytest.approx([0, 2.25, 3.0], abs=1e-6)
    assert replay.input_tokens.tolist() == [10, 20, 30]
    drawn = generate_requests(Workload(**trace), 100, 1)
    assert set(zip(drawn.input_tokens.tolist(), drawn.output_tokens.tolist(), strict=True)) == {
        (10, 2), (20, 3), (30, 4)
    }  # fmt: skip


def test_a_file_of_lengths_has_no_arrivals(tmp_path):
    path = tmp_path / "lengths.csv"
    path.write_text("num_prefill_tokens,num_decode_tokens\n5,6\n")
    workload = Workload(arrivals="trace", trace_file=str(path))
    with pytest.raises(ValueError, match=r"workload\.arrivals = 'trace'.*lengths only"):
        generate_requests(workload, 10, 1)
