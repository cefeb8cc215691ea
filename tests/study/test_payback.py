from dataclasses import replace

import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.scenario.study_block import Payback
from pdexplorer.study.checklist import CHECKLIST, checklist
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.faults import FAULTS, FaultRow
from pdexplorer.study.payback import payback
from tests.study.test_signs import LONG_TIGHT

FREE = {name: 0 for name in Payback.model_fields if name.endswith(("_usd", "_usd_per_month"))}


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(Scenario.model_validate(LONG_TIGHT), with_break_even=False)


def test_the_saving_is_the_difference_of_the_fleets(evaluation: Evaluation) -> None:
    scenario = Scenario.model_validate({**LONG_TIGHT, "payback": {**FREE, "years": 3}})
    found = payback(replace(evaluation, scenario=scenario))
    assert found is not None
    hourly = evaluation.colocated.cost_usd_per_hour - evaluation.disaggregated.cost_usd_per_hour  # type: ignore[operator]
    assert found.saving_usd_per_month == pytest.approx(hourly * 730, rel=1e-3)
    assert found.payback_months == 0.0
    assert found.net_usd == pytest.approx(36 * found.saving_usd_per_month)
    assert len(found.cumulative_usd) == 37


def test_rows_add_up_and_the_curve_crosses_zero_at_the_payback(evaluation: Evaluation) -> None:
    found = payback(evaluation)
    assert found is not None
    assert sum(row.once_usd for row in found.rows) == pytest.approx(found.once_usd)
    assert -sum(row.usd_per_month for row in found.rows) == pytest.approx(found.net_usd_per_month)
    assert found.cumulative_usd[0] == -found.once_usd
    assert found.cumulative_usd[-1] == pytest.approx(found.net_usd)
    if found.payback_months is not None and found.payback_months < 60:
        month = int(found.payback_months)
        assert found.cumulative_usd[month] <= 0.0 <= found.cumulative_usd[month + 1]


def test_nothing_pays_back_a_split_that_costs_more(evaluation: Evaluation) -> None:
    chat = {
        "model": {"name": "llama_3_1_8b", "weight_format": "bf16"},
        "workload": {"input_tokens": 200, "output_tokens": 150, "rate_per_s": 60},
    }
    found = payback(evaluate(Scenario.model_validate(chat), with_break_even=False))
    assert found is not None
    assert found.payback_months is None
    assert found.break_even_requests_per_s is None or found.saving_usd_per_month > 0.0
    assert found.net_usd < 0.0


def test_shares_out_of_range_are_refused() -> None:
    _, refused = apply_settings(Scenario(), {"payback.nics_present_fraction": "2"})
    assert refused[0].text == "payback.nics_present_fraction = 2: allowed is a number from 0 to 1"


def test_the_checklist_takes_its_numbers_from_replayed_faults() -> None:
    row = FaultRow("decode_down", "disaggregated", 0.99, 0.9, 54, 0.09, 3, 2.0, "")
    shown = {item.key: item for item in checklist((row,))}
    assert "9.0% of requests" in shown["decode_dies"].cost
    assert shown["prefill_dies"].cost == ""
    assert {item.fault for item in CHECKLIST if item.fault} <= set(FAULTS)
    assert len({item.key for item in CHECKLIST}) == len(CHECKLIST)
