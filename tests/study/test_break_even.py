import pytest

from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.verdict import band_of
from tests.study.test_signs import LONG_TIGHT, answer


def test_flips_lie_where_the_real_model_crosses() -> None:
    scenario = Scenario.model_validate({**LONG_TIGHT, "compare": {"basis": "most_goodput"}})
    flips = {b.key: b for b in evaluate(scenario).verdict.break_even}
    limit = flips["network.nic_gbit_per_s"]
    assert limit.direction == "above"
    assert limit.value is not None
    ratios = []
    for value in (limit.value * 1.4, limit.value * 0.7):
        change = {"network": {"nic_gbit_per_s": value}, "compare": {"basis": "most_goodput"}}
        ratios.append(answer(LONG_TIGHT, change).verdict.ratios.goodput_per_dollar)
    assert ratios[0] is not None
    assert ratios[0] > 1.1 * 0.97
    # Where the link cannot carry the demand at all there is no ratio.
    assert ratios[1] is None or ratios[1] < 1.1 * 1.05


def test_every_slider_has_an_entry_and_a_sentence() -> None:
    flips = evaluate(Scenario()).verdict.break_even
    assert {b.key for b in flips} >= {
        "workload.input_tokens",
        "workload.output_tokens",
        "workload.prefix_hit_fraction",
        "workload.rate_per_s",
        "network.nic_gbit_per_s",
        "slo.ttft_s",
        "slo.tpot_ms",
        "money.usd_per_hour.h100_sxm",
    }
    assert all(b.text and (b.value is None) == (b.direction is None) for b in flips)


def test_a_price_flip_flips_the_decision() -> None:
    settings = {
        "prefill": {"accelerator": "h200_sxm"},
        "decode": {"accelerator": "h20_96"},
        "workload": {"rate_per_s": 40, "input_tokens": 6000},
        "compare": {"basis": "most_goodput"},
    }
    base = evaluate(Scenario.model_validate(settings))
    flip = next(b for b in base.verdict.break_even if b.key == "money.usd_per_hour.h20_96")
    if flip.value is None:
        pytest.skip("no price of the decode accelerator flips this")
    moved = [
        evaluate(
            Scenario.model_validate({**settings, "money": {"usd_per_hour": {"h20_96": flip.value * k}}}),
            None,
            False,
        )
        for k in (0.9, 1.1)
    ]
    bands = [band_of(VerdictRule(), e.verdict.ratios.goodput_per_dollar) for e in moved]
    assert bands[0] != bands[1]
