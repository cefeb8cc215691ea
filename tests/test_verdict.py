from dataclasses import replace

import pytest

from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.outcome import Outcome, Percentiles, infeasible_outcome
from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.verdict import Ratios, decide

RULE = VerdictRule()
FINE = Outcome(
    kind="estimated", feasible=True, bottleneck=None, utilisation={"link": 0.1, "prefill_capacity": 0.5}
)
CANNOT = infeasible_outcome(Infeasible("ttft", "one request alone takes 3 s"))


@pytest.mark.parametrize(
    ("ratio", "decision", "clearly"),
    [
        (0.97, "stay_colocated", False),
        (1.0999, "stay_colocated", False),
        (1.1, "benchmark_first", False),
        (1.2999, "benchmark_first", False),
        (1.3 - 1e-15, "disaggregate", False),
        (1.5, "disaggregate", True),
        (None, "stay_colocated", False),
    ],
)
def test_bands(ratio: float | None, decision: str, clearly: bool) -> None:
    verdict = decide(RULE, "least_cost", FINE, FINE, Ratios(cost=ratio, goodput_per_dollar=ratio))
    assert (verdict.decision, verdict.clearly) == (decision, clearly)


def test_the_basis_says_which_ratio_decides() -> None:
    ratios = Ratios(goodput_per_dollar=1.4, goodput_per_gpu=1.2, cost=1.0, goodput=0.9)
    assert decide(RULE, "least_cost", FINE, FINE, ratios).decided_by == "cost_ratio"
    assert decide(RULE, "equal_gpus", FINE, FINE, ratios).decided_by == "goodput_ratio"
    for basis in ("most_goodput", "fixed_fleets"):
        assert decide(RULE, basis, FINE, FINE, ratios).decided_by == "goodput_per_dollar_ratio"  # type: ignore[arg-type]
    unpriced = Ratios(goodput_per_gpu=1.2)
    assert decide(RULE, "least_cost", FINE, FINE, unpriced).decided_by == "goodput_per_gpu_ratio"
    assert (
        decide(RULE, "least_cost", FINE, FINE, ratios, offline=True).decided_by == "goodput_per_dollar_ratio"
    )


@pytest.mark.parametrize(
    ("change", "veto"),
    [
        ({"utilisation": {"link": 0.71, "prefill_capacity": 0.5}}, "link_busy"),
        ({"utilisation": {"link": 0.1, "prefill_capacity": 0.91}}, "prefill_busy"),
        ({"ttft_s": Percentiles(1, 1, 1), "kv_exposed_s": Percentiles(0.1, 0.26, 0.3)}, "transfer_share"),
    ],
)
def test_a_veto_turns_a_gain_into_a_benchmark(change: dict[str, object], veto: str) -> None:
    split = replace(FINE, **change)  # type: ignore[arg-type]
    verdict = decide(RULE, "least_cost", FINE, split, Ratios(cost=1.6))
    assert (verdict.decision, verdict.vetoes) == ("benchmark_first", (veto,))
    assert decide(RULE, "least_cost", FINE, split, Ratios(cost=0.9)).decision == "stay_colocated"


def test_a_side_that_cannot_loses_and_both_is_infeasible() -> None:
    assert decide(RULE, "least_cost", FINE, CANNOT, Ratios()).decision == "stay_colocated"
    assert decide(RULE, "least_cost", CANNOT, FINE, Ratios()).decision == "disaggregate"
    assert decide(RULE, "least_cost", CANNOT, CANNOT, Ratios()).decision == "infeasible"


def test_json_keys_and_null_confidence() -> None:
    answer = decide(RULE, "least_cost", FINE, FINE, Ratios(cost=1.0)).to_json()
    assert answer["confidence"] is None
    keys = (
        "decision decided_by goodput_per_dollar_ratio goodput_per_gpu_ratio cost_ratio goodput_ratio "
        "confidence vetoes reasons break_even"
    )
    assert set(keys.split()) <= set(answer)


@pytest.mark.parametrize("basis", ["most_goodput", "equal_gpus"])
def test_a_budget_filled_up_runs_its_prefill_pool_full_on_purpose(basis: str) -> None:
    split = replace(FINE, utilisation={"link": 0.1, "prefill_capacity": 0.99})
    ratios = Ratios(goodput_per_dollar=1.6)
    assert decide(RULE, basis, FINE, split, ratios).decision == "disaggregate"  # type: ignore[arg-type]
