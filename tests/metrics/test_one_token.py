"""Requests of one token have no time per output token."""

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate

ONE = {"workload": {"output_tokens": 1, "output_distribution": "fixed"}}


def test_tpot_and_itl_are_null_where_no_request_decodes() -> None:
    answer = evaluate(Scenario.model_validate(ONE), with_break_even=False)
    for side in (answer.colocated, answer.disaggregated):
        assert side.feasible
        assert side.ttft_s is not None
        assert side.tpot_s is None
        assert side.itl_s is None
        assert side.to_json()["tpot_s"] == {"p50": None, "p95": None, "p99": None}


def test_percentiles_of_tpot_leave_out_requests_of_one_token() -> None:
    scenario = Scenario.model_validate({"workload": {"output_tokens": 2, "output_distribution": "lognormal"}})
    answer = evaluate(scenario, with_break_even=False)
    for side in (answer.colocated, answer.disaggregated):
        assert side.tpot_s is not None
        assert side.tpot_s.p50 > 0.0
