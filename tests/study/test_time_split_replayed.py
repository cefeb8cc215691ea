import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.replayed import replayed
from pdexplorer.study.time_split_replayed import replayed_ttft
from pdexplorer.workload.generate import generate_requests
from tests.study.test_signs import LONG_TIGHT


@pytest.mark.parametrize("first_token_from", ["decode", "prefill"])
def test_parts_of_replayed_requests_add_up(first_token_from: str) -> None:
    network = {"link": "roce_400", "first_token_from": first_token_from}
    scenario = Scenario.model_validate({**LONG_TIGHT, "network": network})
    evaluation = evaluate(scenario, with_break_even=False)
    requests = generate_requests(scenario.workload, 120, 0)
    for fleet in (evaluation.colocated_fleet, evaluation.disaggregated_fleet):
        assert fleet is not None
        result, outcome = replayed(scenario, fleet, requests)
        rows = replayed_ttft(result, fleet, scenario.routing.overhead_ms / 1e3)
        assert [row.percentile for row in rows] == [50, 95]
        for row in rows:
            assert sum(row.parts_s.values()) == pytest.approx(row.total_s, rel=1e-6)
            assert all(value >= 0.0 for value in row.parts_s.values())
        assert outcome.ttft_s is not None
        assert rows[0].total_s == pytest.approx(outcome.ttft_s.p50, rel=0.1)
        remote = fleet is evaluation.disaggregated_fleet and first_token_from == "decode"
        assert (rows[0].parts_s["handshake"] > 0.0) == remote
