"""Serving numbers are fitted to some (model, system) groups and scored on others."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.evidence.serving_fit import References, fit_serving, references
from pdexplorer.evidence.serving_points import ServingPoint, read_serving
from pdexplorer.evidence.serving_predict import Served, ServingNumbers, pool_instance, predict_serving
from pdexplorer.evidence.serving_setup import named_outlier
from pdexplorer.evidence.serving_steps import closed_form, collect_runs, group_of
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.serving import KernelRatios, ServingRatios

REFERENCE = Path(__file__).parents[1] / "reference" / "serving.csv"
HELD = ("minimax_m2_5", "b200_sxm")
TRAINING = ("gpt_oss_120b", "h200_sxm")


@cache
def small_file() -> References:
    shown = ("minimax_m2_5", "gpt_oss_120b", "llama_3_1_70b")
    points = [p for p in read_serving(REFERENCE) if p.colocated is not None and p.model in shown]
    return references(points)


def doubled(group: tuple[str, str]) -> References:
    known = small_file()
    points = [_slower(p) if group_of(p) == group else p for p in known.points]
    return replace(known, points=points, runs=collect_runs(points, known.replays, known.catalog))


def _slower(point: ServingPoint) -> ServingPoint:
    return replace(
        point,
        measured_ttft_ms=2 * (point.measured_ttft_ms or 0.0),
        measured_tpot_ms=2 * (point.measured_tpot_ms or 0.0),
    )


def predictions(known: References) -> Sequence[Served]:
    numbers = fit_serving(known, [HELD]).numbers
    return _held(numbers)


def _held(numbers: ServingNumbers) -> Sequence[Served]:
    return predict_serving([p for p in small_file().points if group_of(p) == HELD], load_catalog(), numbers)


def test_doubling_a_held_out_group_leaves_its_predictions() -> None:
    assert predictions(doubled(HELD)) == predictions(small_file())


def test_doubling_a_training_group_moves_the_predictions() -> None:
    assert predictions(doubled(TRAINING)) != predictions(small_file())


def test_a_fit_counts_its_numbers() -> None:
    found = fit_serving(small_file())
    assert found.parameters == found.numbers.count
    assert 12 < found.parameters < 50
    assert found.runs == sum(1 for p in small_file().points if not named_outlier(p))


def test_the_closed_form_follows_the_replay_it_is_fitted_through() -> None:
    known = small_file()
    numbers = fit_serving(known).numbers
    own = [known.points[row] for row in known.runs.rows]
    replayed = np.array([served.tpot_ms for served in predict_serving(own, known.catalog, numbers)])
    form = formed(known, numbers)
    assert np.median(np.abs(form / replayed - 1)) < 0.02


def formed(known: References, numbers: ServingNumbers) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    times = np.empty(len(known.runs.rows))
    for part in known.runs.parts:
        own = []
        for place in part.where:
            point = known.points[known.runs.rows[place]]
            assert point.colocated is not None
            neutral = pool_instance(point, point.colocated, known.catalog, ServingRatios())
            assert not isinstance(neutral, Infeasible)
            own.append(numbers.ratios.of(neutral, bool(known.runs.young[place])))
        one = np.ones(len(own))
        stacked = {name: np.array([getattr(r, name) for r in own]) for name in KernelRatios.__slots__}
        times[part.where] = closed_form(part, KernelRatios(**stacked), one, 0.0 * one).tpot_ms
    return times


def test_a_group_that_was_left_out_takes_the_numbers_of_its_kind() -> None:
    known = small_file()
    left = fit_serving(known, [HELD]).numbers
    assert set(left.request_s) >= {"vllm experts", "vllm dense", "trtllm experts"}
    assert "blackwell fp8_block" in left.ratios.compute_by_format
    # What is particular to the group is pulled to none: its engine's and class's remain.
    assert left.request_s["vllm experts"] != pytest.approx(0.06, rel=1e-3)


def test_names_of_one_shape_are_one_group() -> None:
    groups = {group_of(p) for p in read_serving(REFERENCE)}
    assert ("deepseek", "b200_sxm") in groups
    assert not any(model.startswith("deepseek_") for model, _ in groups)


@pytest.mark.parametrize("quantity", ["ttft_ms", "tpot_ms"])
def test_every_determined_row_is_answered(quantity: str) -> None:
    assert all(getattr(answer, quantity) for answer in predict_serving(small_file().points))
