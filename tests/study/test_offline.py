import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.offline import batch_plan

JOB = Scenario.model_validate(
    {
        "model": {"name": "qwen3_8b", "weight_format": "fp8"},
        "workload": {"mode": "offline", "input_tokens": 2000, "output_tokens": 100},
    }
)


def test_completion_and_money_follow_from_the_rows_an_hour() -> None:
    plan = batch_plan(JOB, job_rows=100_000)
    for row in plan.rows:
        assert row.completion_h == pytest.approx(100_000 / row.rows_per_hour)
        tokens = row.usd_per_million_tokens * 2100 * 100_000 / 1e6  # type: ignore[operator]
        assert row.usd_per_job == pytest.approx(tokens, rel=0.02)
    assert plan.better == "colocated"
    assert plan.ratio is not None
    assert plan.ratio < 1.0
    assert "rows an hour" in plan.text


def test_bigger_batches_and_grouped_prefixes_never_hurt() -> None:
    plan = batch_plan(JOB, shared_prefix_tokens=1500, rows_per_prefix=50)
    rows = {(row.fleet, row.change): row for row in plan.rows}
    for fleet in ("colocated", "disaggregated"):
        small, large = (rows[fleet, f"batches of up to {n}"].gain_ratio for n in (64, 1024))
        assert large >= small * 0.999
        assert rows[fleet, "rows grouped by prefix"].gain_ratio > 1.2
    assert ("colocated", "4 length buckets") in rows


def test_a_prefix_longer_than_the_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="shared_prefix_tokens = 3000"):
        batch_plan(JOB, shared_prefix_tokens=3000, rows_per_prefix=2)
