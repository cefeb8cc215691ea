import pytest

from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.pairs import PairRow, rank_pairs

SCENARIO = Scenario.model_validate(
    {"model": {"name": "qwen3_32b", "weight_format": "fp8"}, "slo": {"ttft_s": 3, "tpot_ms": 40}}
)
CHIPS = ("h100_sxm", "h20_96", "b200_sxm", "rtx_pro_5000_48", "dgx_spark")


@pytest.fixture(scope="module")
def rows() -> tuple[PairRow, ...]:
    return rank_pairs(SCENARIO, accelerators=CHIPS, prefill_formats=())


def test_every_pair_is_there_once_and_the_cheapest_first(rows: tuple[PairRow, ...]) -> None:
    assert len(rows) == len(CHIPS) ** 2 == len({(r.prefill, r.decode) for r in rows})
    costs = [r.usd_per_million_requests for r in rows if r.usd_per_million_requests is not None]
    assert costs == sorted(costs)
    assert all(r.limit or (r.prefill_reason and r.decode_reason and r.kv_tokens) for r in rows)


def test_the_parts_add_up_to_what_a_request_costs(rows: tuple[PairRow, ...]) -> None:
    first = rows[0]
    per_request = (
        first.prefill_usd_per_million_tokens * SCENARIO.workload.input_tokens  # type: ignore[operator]
        + first.decode_usd_per_million_tokens * SCENARIO.workload.output_tokens  # type: ignore[operator]
    )
    assert first.usd_per_million_requests == pytest.approx(per_request, rel=1e-3)


def test_an_unpriced_pair_wins_at_its_price_and_not_above(rows: tuple[PairRow, ...]) -> None:
    unpriced = next(r for r in rows if r.unpriced and r.winning_usd_per_hour)
    name = unpriced.unpriced[0]
    for factor, wins in ((0.9, True), (1.1, False)):
        price = {name: factor * unpriced.winning_usd_per_hour}  # type: ignore[operator]
        money = SCENARIO.money.model_copy(update={"usd_per_hour": price})
        priced = SCENARIO.model_copy(update={"money": money})
        again = rank_pairs(priced, accelerators=CHIPS, prefill_formats=())
        best_before = rows[0].usd_per_million_requests
        own = next(r for r in again if (r.prefill, r.decode) == (unpriced.prefill, unpriced.decode))
        assert (own.usd_per_million_requests < best_before) == wins  # type: ignore[operator]


def test_a_pair_agrees_with_the_comparison_of_that_scenario(rows: tuple[PairRow, ...]) -> None:
    answer = evaluate(SCENARIO, with_break_even=False)
    best = max(c.score for c in answer.candidates if c.fleet == "disaggregated" and c.score is not None)
    own = next(r for r in rows if (r.prefill, r.decode) == ("h100_sxm", "h100_sxm"))
    assert own.usd_per_million_requests == pytest.approx(1e6 / 3600.0 / best, rel=0.05)


def test_fp4_prefill_is_a_row_of_its_own_where_the_chip_has_units() -> None:
    rows = rank_pairs(SCENARIO, accelerators=("b200_sxm", "h100_sxm"))
    formats = {(r.prefill, r.prefill_format) for r in rows}
    assert formats == {("b200_sxm", "fp8"), ("b200_sxm", "nvfp4"), ("h100_sxm", "fp8")}
    assert {r.decode_format for r in rows} == {"fp8"}
    four, eight = (
        next(r for r in rows if (r.prefill, r.prefill_format, r.decode) == ("b200_sxm", weights, "h100_sxm"))
        for weights in ("nvfp4", "fp8")
    )
    assert four.usd_per_million_requests < eight.usd_per_million_requests  # type: ignore[operator]


def test_a_pool_s_own_format_is_kept_to() -> None:
    scenario = SCENARIO.model_copy(
        update={"prefill": SCENARIO.prefill.model_copy(update={"weight_format": "fp8"})}
    )
    rows = rank_pairs(scenario, accelerators=("b200_sxm",))
    assert [r.prefill_format for r in rows] == ["fp8"]
