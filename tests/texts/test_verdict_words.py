import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.texts.catalogue import Texts
from pdexplorer.texts.verdict_words import disagreement, nearest_flips, sentence, title, unfair, unknown

ENGLISH, CHINESE = Texts("en"), Texts("zh")
DECISIONS = ("disaggregate", "benchmark_first", "stay_colocated", "hybrid", "infeasible")


def flips_text(answer, here):
    return " ".join(f"{head} {ways}" for head, ways in nearest_flips(ENGLISH, answer, here))


def answer(decision="disaggregate", by="cost_ratio", cost=1.4, dollars=1.45, gpus=1.4, flips=(), **sides):
    fleets = {
        fleet: {"feasible": limit is None, "infeasible": limit and {"limit": limit, "text": "why not"}}
        for fleet, limit in ({"colocated": None, "disaggregated": None} | sides).items()
    }
    return {
        "scenario": Scenario().model_dump(),
        **fleets,
        "verdict": {
            "decision": decision,
            "decided_by": by,
            "cost_ratio": cost,
            "goodput_per_dollar_ratio": dollars,
            "goodput_per_gpu_ratio": gpus,
            "vetoes": [],
            "undecided": False,
            "break_even": [
                dict(zip(("key", "value", "unit", "direction"), flip, strict=True)) for flip in flips
            ],
        },
    }


@pytest.mark.parametrize(
    ("cost", "said"), [(2.0, "50 % less per request (2.00×)"), (0.5, "100 % more per request (0.50×)")]
)
def test_cost_is_told_as_less_or_more_per_request(cost, said):
    assert said in sentence(ENGLISH, answer(cost=cost, dollars=cost), {})


def test_goodput_is_told_as_more_or_less_of_it():
    assert "20 % less goodput per GPU" in sentence(
        ENGLISH, answer(by="goodput_per_gpu_ratio", gpus=0.8, cost=None), {}
    )


def test_a_ratio_of_one_is_equal():
    assert "equal" in sentence(ENGLISH, answer("stay_colocated", cost=1.0000001, dollars=1.0), {})


def test_the_other_ratio_is_named_only_in_another_band():
    assert disagreement(ENGLISH, answer(cost=1.4, dollars=1.5)) == ""
    assert "1.20×: worth a benchmark" in disagreement(ENGLISH, answer(cost=1.4, dollars=1.2))


def test_clearly_from_the_scenarios_own_threshold():
    assert title(ENGLISH, answer(cost=1.6)).endswith("clearly")
    assert not title(ENGLISH, answer(cost=1.4)).endswith("clearly")


def test_a_side_that_cannot_is_named_with_its_limit():
    said = sentence(
        ENGLISH, answer("stay_colocated", "feasibility", disaggregated="ttft"), {"disaggregated": "too slow"}
    )
    assert "only the colocated fleet" in said
    assert "too slow" in said


def test_a_missing_figure_is_no_verdict():
    asked = answer("stay_colocated", "feasibility", disaggregated="missing_figure")
    assert unknown(asked) == "disaggregated"
    assert title(ENGLISH, asked) == "Cannot judge yet"


def test_an_estimate_that_cannot_decide_says_so_before_what_it_leans_to():
    asked = answer("benchmark_first")
    asked["verdict"] |= {"undecided": True, "leaning": "disaggregate"}
    assert title(ENGLISH, asked) == "Benchmark first"
    said = sentence(ENGLISH, asked, {})
    assert said.startswith(
        "the estimate cannot decide this; it leans to splitting: splitting costs 29 % less"
    )
    assert sentence(CHINESE, asked, {}).startswith("估算无法定论，倾向于采用 P/D 分离：")


def test_flips_are_told_as_they_stand_away_from_here_and_without_false_digits():
    flips = [
        ("workload.input_tokens", 3912.0, "tokens", "above"),
        ("workload.output_tokens", 2981.0, "tokens", "below"),
        ("workload.rate_per_s", None, "requests/s", None),
    ]
    said = flips_text(answer(flips=flips), {"workload.input_tokens": 4000.0, "workload.output_tokens": 300.0})
    assert said == "Flips if input tokens below 3,900 or output tokens above 3,000."


def test_a_flip_from_no_known_place_follows_the_side_that_pays():
    flips = [("workload.prefix_hit_fraction", 0.9, "", "below")]
    here = {"workload.prefix_hit_fraction": 0.0}
    assert "prefix hit above 90 %" in flips_text(answer(flips=flips), here)
    assert "prefix hit below 90 %" in flips_text(answer("stay_colocated", flips=flips), here)


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE])
def test_every_decision_has_words(texts):
    for decision in DECISIONS:
        assert title(texts, answer(decision, by=None))


def test_an_unfair_baseline_is_named_in_both_languages():
    catalog, asked = load_catalog(), {"colocated.engine": "vllm_2023", "engine.chunking": "unchunked"}
    scenario, _ = apply_settings(Scenario(), asked)
    assert "without chunked prefill, the split runs vLLM" in unfair(ENGLISH, scenario, catalog)
    assert "chunked prefill，P/D 分离用的是" in unfair(CHINESE, scenario, catalog)
    assert unfair(ENGLISH, Scenario(), catalog) == ""


def test_whole_prompts_first_is_no_chunked_prefill_either():
    scenario, _ = apply_settings(Scenario(), {"engine.chunking": "prefill_first"})
    assert unfair(ENGLISH, scenario, load_catalog()) == (
        "The comparison is not fair: colocated runs vLLM without chunked prefill."
    )
