import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.sensitivity import sensitivity
from tests.study.test_signs import LONG_TIGHT


def test_rows_are_widest_first_and_start_from_the_verdicts_gain() -> None:
    scenario = Scenario.model_validate(LONG_TIGHT)
    found = sensitivity(scenario)
    swings = [row.swing for row in found.rows]
    assert swings == sorted(swings, reverse=True)
    ratio = evaluate(scenario, with_break_even=False).verdict.ratios.goodput_per_dollar
    assert found.gain == pytest.approx(ratio, rel=0.02)


def test_a_tighter_tpot_limit_and_a_cheaper_pool_raise_the_gain() -> None:
    settings = {**LONG_TIGHT, "prefill": {"accelerator": "h200_sxm"}, "compare": {"accelerators": "h100_sxm"}}
    rows = {row.key: row for row in sensitivity(Scenario.model_validate(settings)).rows}
    tpot, price = rows["slo.tpot_ms"], rows["money.usd_per_hour.h200_sxm"]
    assert tpot.gain_low > tpot.gain_high  # type: ignore[operator]
    assert price.gain_low > price.gain_high  # type: ignore[operator]
    assert price.high_value == pytest.approx(1.25 * price.value)
    assert any(key.startswith("efficiency.h200_sxm.") for key in rows)


def test_a_batch_job_has_no_limits_to_move() -> None:
    rows = sensitivity(Scenario.model_validate({"workload": {"mode": "offline"}})).rows
    assert not [row for row in rows if row.key.startswith("slo.") or "rate" in row.key]
