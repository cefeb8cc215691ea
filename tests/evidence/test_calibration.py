"""Fits use the rows they are given and no others; what is written is what is read."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.catalog.effects import fitted_count
from pdexplorer.catalog.efficiency import fitted_document, load_efficiencies, parse_efficiencies
from pdexplorer.evidence import cross_validation
from pdexplorer.evidence.calibration import Calibration, fit, prior_entries
from pdexplorer.evidence.columns import blocks_of, predicted_s
from pdexplorer.evidence.efficiency_file import fit_files, to_toml
from pdexplorer.evidence.points import StepPoint, read_points
from pdexplorer.evidence.steptime import predict_points
from tests.shared_data import shared_path

REFERENCE = Path(__file__).parents[1] / "reference"


@pytest.fixture(scope="module")
def points() -> list[StepPoint]:
    wanted = ("llama_3_1_8b", "llama_3_1_70b", "qwen3_30b_a3b")
    return [
        point
        for point in read_points(REFERENCE / "step_times.csv")
        if point.model in wanted
        and point.weight_format == "bf16"
        and point.engine == "vllm"
        and point.accelerator in ("h100_sxm", "a100_80_sxm")
    ]


def doubled(point: StepPoint) -> StepPoint:
    raw = dict(point.raw)
    for column in ("latency_ms", "gemm_ms", "attn_ms", "comm_ms", "moe_ms", "other_ms"):
        raw[column] = str(2 * float(raw[column]))
    return replace(point, raw=raw, measured_ms=2 * (point.measured_ms or 0.0))


def predictions(train: list[StepPoint], test: list[StepPoint]) -> list[float]:
    fitted = fit(train, load_catalog(), "a test").entries
    return [predicted or 0.0 for predicted, _ in predict_points(test, entries=fitted)]


def test_a_fit_moves_with_the_rows_it_is_given(points: list[StepPoint]) -> None:
    held = [point for point in points if point.model == "llama_3_1_70b"]
    rest = [point for point in points if point.model != "llama_3_1_70b"]
    base = np.array(predictions(rest, held))
    moved = np.array(predictions([doubled(point) for point in rest], held))
    assert np.median(moved / base) > 1.2


def test_scores_do_not_depend_on_the_rows_they_are_of(
    points: list[StepPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[list[StepPoint]] = []

    def spy(train: list[StepPoint], catalog: Catalog, source: str) -> Calibration:
        trained.append(list(train))
        return fit([], catalog, source)

    monkeypatch.setattr(cross_validation, "fit", spy)
    scored = cross_validation.cross_validate(points, load_catalog())
    by_split = {row.split for row in scored}
    assert "other_models" in by_split
    for model in {point.model for point in points}:
        scores = [row for row in scored if row.point.model == model and row.split != "other_groups"]
        assert scores
        assert any(all(point.model != model for point in train) for train in trained)
    for train in trained:
        assert len(train) < len(points)


def test_a_sample_of_rows_already_generalises(points: list[StepPoint]) -> None:
    held = [point for point in points if point.model == "llama_3_1_70b"]
    rest = [point for point in points if point.model != "llama_3_1_70b"]
    ratios = np.array(predictions(rest, held)) / np.array([point.measured_ms for point in held])
    assert np.median(np.abs(ratios - 1)) < 0.15


def test_what_is_written_is_what_is_read(points: list[StepPoint]) -> None:
    fitted = fit(points, load_catalog(), "a sample")
    read = parse_efficiencies(to_toml(fitted.document))
    for before, after in zip(
        predict_points(points, entries=fitted.entries), predict_points(points, entries=read), strict=True
    ):
        assert after[0] == pytest.approx(before[0], rel=2e-3)


def test_the_shipped_file_is_the_fit_of_its_files() -> None:
    names = ("measured/step_times.csv", "measured/mixed_steps.csv", "catalog/efficiency.csv")
    fitted = fit_files([shared_path(name) for name in names])
    shipped = fitted_document()
    assert fitted.rows == 2719
    for section, again in fitted.document.items():
        for number, effects in again["numbers"].items():
            assert shipped[section]["numbers"][number] == pytest.approx(effects, rel=2e-3)
        assert len(shipped[section]["rows"]) == len(again["rows"])


def test_a_head_timed_apart_is_fitted_apart() -> None:
    """One large product among the small ones of a layer: it tells bandwidth from launches."""
    rows = [point for point in read_points(REFERENCE / "mixed_steps.csv") if point.phase != "mixed"]
    for block in blocks_of(rows, load_catalog(), prior_entries()):
        assert block.joined
        summed = block.measured_s["dense"] + block.measured_s["head"]
        assert np.isfinite(summed).all()
        assert (block.measured_s["head"] < 0.5 * block.measured_s["dense"]).all()
        plan = block.instance.plan
        faster = replace(plan, dense_weights_s=0.5 * plan.dense_weights_s)
        assert np.array_equal(predicted_s(faster, block, "head"), predicted_s(plan, block, "head"))
        assert (predicted_s(faster, block, "dense") < predicted_s(plan, block, "dense")).all()


def test_the_shipped_numbers_are_few_and_counted() -> None:
    document = fitted_document()
    assert fitted_count(document) < 150
    for section in document.values():
        for effects in section.get("numbers", {}).values():
            assert next(iter(effects)) == "base"


def test_shares_of_ceilings_are_plausible() -> None:
    for entries in load_efficiencies().values():
        for entry in entries:
            for name in ("mfu", "mbu", "prefill_mfu", "decode_mfu", "decode_mbu"):
                assert 0.0 < getattr(entry, name, 1.0) <= 1.0, entry.fit
    for entry in load_efficiencies()["gemm"]:
        assert 0.2 < entry.mfu <= 1.0, entry.fit
        assert 0.5 < entry.mbu < 1.0, entry.fit
        assert entry.fit.source
        assert entry.fit.kind in ("fitted", "derived", "assumed")


def test_a_missing_number_is_named() -> None:
    with pytest.raises(ValueError, match=r"lacks.*mfu"):
        parse_efficiencies('[[gemm]]\naccelerator = "x"\n')
