"""Predictions are read off the same evaluation as any other; signs follow the line the list was sorted by."""

from dataclasses import replace

import pytest

from pdexplorer.evidence.published import load_published
from pdexplorer.evidence.published_results import (
    PublishedResult,
    miss_cause,
    predicted_sign,
    published_result,
    published_results,
    scorecard,
)
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.verdict import Ratios, Verdict

CASE = next(case for case in load_published() if case.id == "R098")


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(CASE.scenario, with_break_even=False)


def with_ratio(evaluation: Evaluation, ratio: float | None) -> Evaluation:
    verdict = Verdict("stay_colocated", "cost_ratio", Ratios(cost=ratio))
    return replace(evaluation, verdict=verdict)


def result(sign: str, correct: bool) -> PublishedResult:
    return PublishedResult("x", "", "", "", "", sign, None, None, None, "", correct, "", "")  # type: ignore[arg-type]


def test_a_listed_result_is_predicted(evaluation: Evaluation) -> None:
    found = published_result(CASE, evaluation)
    assert (found.published_sign, found.predicted_sign) == ("does_not_pay", "does_not_pay")
    assert found.correct
    assert found.cause == ""


@pytest.mark.parametrize(("ratio", "sign"), [(1.1, "pays"), (1.0999, "does_not_pay"), (None, "does_not_pay")])
def test_signs_share_the_line_of_the_list(evaluation: Evaluation, ratio: float | None, sign: str) -> None:
    assert predicted_sign(with_ratio(evaluation, ratio)) == sign


def test_a_side_that_cannot_gives_the_sign_and_neither_gives_none(evaluation: Evaluation) -> None:
    cannot = replace(evaluation.colocated, feasible=False)
    assert predicted_sign(replace(evaluation, colocated=cannot)) == "pays"
    assert predicted_sign(replace(evaluation, disaggregated=cannot)) == "does_not_pay"
    assert predicted_sign(replace(evaluation, colocated=cannot, disaggregated=cannot)) is None


def test_one_answer_for_all_scores_half() -> None:
    always = [result("pays", True)] * 20 + [result("does_not_pay", False)] * 5
    assert scorecard(always).balanced_accuracy_fraction == 0.5
    with pytest.raises(ValueError, match="does_not_pay"):
        scorecard([result("pays", True)])


def test_causes_are_found_by_row_or_case() -> None:
    assert miss_cause("U66_vllm") == miss_cause("U66") != ""
    assert miss_cause("U66_l40s") not in ("", miss_cause("U66"))
    assert miss_cause("R005_mii") != miss_cause("R005_vllm")  # their rivals are different engines
    assert miss_cause("U36_example") == ""


def test_every_miss_has_a_cause_and_every_cause_a_miss() -> None:
    """A cause that outlives its miss would explain away a case that is right."""
    found = published_results()
    assert [r.id for r in found if not r.correct and not r.cause] == []
    assert {miss_cause(r.id) for r in found} - {""} == {r.cause for r in found if not r.correct}
