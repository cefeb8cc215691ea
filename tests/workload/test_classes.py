"""The mixture for the closed form keeps the scenario's means."""

import numpy as np
import pytest

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.classes import request_classes


@pytest.mark.parametrize("distribution", ["fixed", "lognormal", "heavy_tail"])
@pytest.mark.parametrize("hit", [0.0, 0.3, 0.5])
def test_means_are_exact(distribution, hit):
    workload = Workload(
        input_tokens=3000, output_tokens=250, input_distribution=distribution, prefix_hit_fraction=hit,
        warm_fraction=0.6,
    )  # fmt: skip
    classes = request_classes(workload)
    assert classes.weight.sum() == pytest.approx(1.0, rel=1e-12)
    assert classes.weight @ classes.input_tokens == pytest.approx(3000, rel=1e-12)
    assert classes.weight @ classes.output_tokens == pytest.approx(250, rel=1e-12)
    assert classes.weight @ classes.cached_tokens == pytest.approx(hit * 3000, rel=1e-12)
    assert (classes.cached_tokens < classes.input_tokens).all()


def test_warm_and_cold_are_apart():
    classes = request_classes(Workload(prefix_hit_fraction=0.4, warm_fraction=0.5))
    hit = classes.cached_tokens / classes.input_tokens
    assert sorted(set(np.round(hit, 9))) == [0.0, 0.8]
    assert classes.weight[hit > 0].sum() == pytest.approx(0.5)


@pytest.mark.parametrize("points", [8, 16, 25])
def test_prompts_and_answers_are_uncorrelated(points):
    classes = request_classes(Workload(), points)
    assert len(classes.weight) == points
    assert abs(np.corrcoef(classes.input_tokens, classes.output_tokens)[0, 1]) < 0.05


def test_trace_lengths_keep_their_own_means_and_pairing(tmp_path):
    trace = tmp_path / "lengths.csv"
    rows = [(100 * n, 3 * n) for n in range(1, 41)]
    trace.write_text("num_prefill_tokens,num_decode_tokens\n" + "".join(f"{p},{d}\n" for p, d in rows))
    workload = Workload(input_distribution="trace", output_distribution="trace", trace_file=str(trace))
    classes = request_classes(workload, 8)
    assert classes.weight @ classes.input_tokens == pytest.approx(np.mean([row[0] for row in rows]))
    assert classes.output_tokens / classes.input_tokens == pytest.approx([0.03] * 8)
