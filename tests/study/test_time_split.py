"""Parts add up to the percentile they explain."""

import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.recompute import recompute_rows
from pdexplorer.study.time_split import TPOT_PARTS, TTFT_PARTS, time_split
from tests.study.test_signs import LONG_TIGHT


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(Scenario.model_validate(LONG_TIGHT), with_break_even=False)


def test_parts_add_up_to_the_outcomes_percentiles(evaluation: Evaluation) -> None:
    rows = time_split(evaluation)
    assert len(rows) == 8
    for row in rows:
        outcome = evaluation.colocated if row.fleet == "colocated" else evaluation.disaggregated
        shown = getattr(outcome.ttft_s if row.metric == "ttft" else outcome.tpot_s, f"p{row.percentile}")
        assert row.total_s == pytest.approx(shown, rel=0.05)
        assert sum(row.parts_s.values()) == pytest.approx(row.total_s)
        assert tuple(row.parts_s) == (TTFT_PARTS if row.metric == "ttft" else TPOT_PARTS)
        assert all(value >= 0.0 for value in row.parts_s.values())


def test_only_the_split_pays_handshake_and_transfer_and_only_colocated_interference(
    evaluation: Evaluation,
) -> None:
    rows = {(r.fleet, r.metric, r.percentile): r.parts_s for r in time_split(evaluation)}
    assert rows["colocated", "ttft", 50]["handshake"] == 0.0
    assert rows["disaggregated", "ttft", 50]["handshake"] > 0.0
    colocated, split = (rows[fleet, "tpot", 95]["interference"] for fleet in ("colocated", "disaggregated"))
    assert colocated > 2.0 * split


def test_slower_links_than_the_break_even_lose_to_prefilling_again(evaluation: Evaluation) -> None:
    assert evaluation.disaggregated_fleet is not None
    rows = recompute_rows(evaluation.disaggregated_fleet)
    path = evaluation.disaggregated_fleet.path
    rate = min(path.egress_byte_per_s, path.ingress_byte_per_s) * 8e-9
    for row in rows:
        needed = float("inf") if row.break_even_gbit_per_s is None else row.break_even_gbit_per_s
        assert row.fetch_is_faster == (rate > needed)
    longer = [row.kv_bytes for row in rows]
    assert longer == sorted(longer)
