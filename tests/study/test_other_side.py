"""A break-even names the decision on the side where the scenario does not stand."""

import math

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study.compare import evaluate
from pdexplorer.study.search.axes import current
from pdexplorer.verdict import told_flips
from tests.study.test_signs import LONG_TIGHT


def test_a_split_that_pays_stays_colocated_beyond_each_flip():
    verdict = evaluate(Scenario.model_validate(LONG_TIGHT)).verdict
    assert verdict.decision == "disaggregate"
    flips = [flip for flip in verdict.break_even if flip.value is not None]
    hit = next(flip for flip in flips if flip.key == "workload.prefix_hit_fraction")
    assert (hit.then, hit.then_direction) == ("stay_colocated", "above")
    assert hit.text.startswith("stay colocated above a prefix hit of")
    assert all(flip.then == "stay_colocated" for flip in flips)


def test_the_nearest_flip_stands_first_as_a_ratio_to_where_the_scenario_stands():
    scenario = Scenario.model_validate(LONG_TIGHT)
    verdict = evaluate(scenario).verdict
    catalog = load_catalog()
    reach = []
    for flip in told_flips(verdict):
        own = current(scenario, catalog, flip.key)
        reach.append(abs(math.log(flip.value / own)))
    assert len(reach) >= 2
    assert reach == sorted(reach)
    values = [flip.value for flip in verdict.break_even]
    assert values == sorted(values, key=lambda value: value is None)


def test_a_fleet_that_stays_is_worth_a_benchmark_beyond():
    chat = {
        "model": {"name": "llama_3_1_8b", "weight_format": "bf16"},
        "workload": {"input_tokens": 400, "output_tokens": 150, "rate_per_s": 60},
    }
    verdict = evaluate(Scenario.model_validate(chat)).verdict
    assert verdict.decision == "stay_colocated"
    for flip in verdict.break_even:
        if flip.value is None:
            assert flip.then is None
        else:
            assert flip.then == "benchmark_first"
            assert flip.text.startswith(f"worth a benchmark {flip.then_direction}")
            assert flip.then_direction == flip.direction
