import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.sizing_table import SizingTable, sizing_table, with_gpus
from tests.study.test_signs import LONG_TIGHT


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(Scenario.model_validate(LONG_TIGHT), with_break_even=False)


@pytest.fixture(scope="module")
def table(evaluation: Evaluation) -> SizingTable:
    found = sizing_table(evaluation, around=1)
    assert found is not None
    return found


def test_the_chosen_ratio_meets_the_demand_and_costs_what_the_comparison_says(
    evaluation: Evaluation, table: SizingTable
) -> None:
    (chosen,) = [row for row in table.ratios if row.chosen]
    assert chosen.meets
    assert chosen.capacity_per_s >= 0.97 * table.demand_per_s
    assert chosen.gpus == evaluation.disaggregated.gpus
    assert chosen.usd_per_hour == pytest.approx(evaluation.disaggregated.cost_usd_per_hour)


def test_more_instances_never_carry_less_and_one_prefill_fewer_does_not_meet(table: SizingTable) -> None:
    rows = {(row.prefill, row.decode): row for row in table.ratios}
    chosen = next(row for row in table.ratios if row.chosen)
    for (p, d), row in rows.items():
        for more in ((p + 1, d), (p, d + 1)):
            if more in rows:
                assert rows[more].capacity_per_s >= row.capacity_per_s * 0.97
    assert not rows[chosen.prefill - 1, chosen.decode].meets


def test_a_pool_of_one_is_flagged_and_its_spare_priced(evaluation: Evaluation, table: SizingTable) -> None:
    spares = {row.pool: row for row in table.spares}
    assert set(spares) == {"prefill", "decode", "colocated"}
    fleet = evaluation.disaggregated_fleet
    assert fleet is not None
    decode = spares["decode"]
    assert decode.alone == (fleet.decode_instances == 1) == ("single point of failure" in decode.text)
    assert decode.added_gpus == fleet.decode.gpus
    price = evaluation.disaggregated.cost_usd_per_hour / evaluation.disaggregated.gpus  # type: ignore[operator]
    assert decode.added_usd_per_hour == pytest.approx(price * fleet.decode.gpus)


def test_the_gpus_one_has_are_shared_out_whole(evaluation: Evaluation) -> None:
    rows = with_gpus(evaluation, 24)
    assert rows
    assert all(row.gpus <= 24 for row in rows)
    assert [row.capacity_per_s for row in rows] == sorted((r.capacity_per_s for r in rows), reverse=True)
    assert {"colocated", "disaggregated"} == {row.fleet for row in rows}
    assert with_gpus(evaluation, 1) == ()


def test_the_table_says_what_to_do_with_the_gpus_of_the_scenario(
    evaluation: Evaluation, table: SizingTable
) -> None:
    assert table.owned == with_gpus(evaluation, evaluation.scenario.compare.gpus)
