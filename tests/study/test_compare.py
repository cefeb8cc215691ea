import json
import subprocess
import sys

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate

FLEET_KEYS = """feasible bottleneck instances gpus cost_usd_per_hour goodput_per_s cost_usd_per_million_tokens
cost_usd_per_million_output_tokens ttft_s tpot_s itl_s e2e_s utilisation kv_transfer_s cost_per_request_usd
attainment_fraction"""


def test_json_is_plain_and_complete() -> None:
    answer = json.loads(json.dumps(evaluate(Scenario()).to_json(), allow_nan=False))
    assert {
        "scenario",
        "colocated",
        "disaggregated",
        "hybrid",
        "verdict",
        "candidates",
        "model_version",
    } <= set(answer)
    for side in ("colocated", "disaggregated"):
        assert set(answer[side]) >= set(FLEET_KEYS.split())
        assert set(answer[side]["ttft_s"]) == {"p50", "p95", "p99"}
    assert answer["hybrid"] is None
    assert answer["verdict"]["reasons"]
    assert answer["verdict"]["gain_interval"] is None


def test_the_same_scenario_gives_the_same_answer() -> None:
    assert evaluate(Scenario()).to_json() == evaluate(Scenario()).to_json()


def test_every_design_is_listed_with_a_score_or_a_limit_and_one_of_each_is_chosen() -> None:
    bf16 = Scenario.model_validate({"model": {"weight_format": "bf16"}})  # too large for one H100
    candidates = evaluate(bf16, with_break_even=False).candidates
    assert all((c.score is None) != (c.limit is None) for c in candidates)
    for fleet in ("colocated", "disaggregated"):
        assert sum(c.chosen for c in candidates if c.fleet == fleet) == 1
    assert any(c.limit is not None and c.limit.limit == "memory" for c in candidates)


def test_a_better_candidate_on_offer_is_chosen() -> None:
    """The baseline is the best fleet on offer: a cheaper or faster accelerator added to the offer takes
    its place.
    """
    before = evaluate(
        Scenario.model_validate({"compare": {"accelerators": "h100_sxm"}}), with_break_even=False
    )
    after = evaluate(
        Scenario.model_validate(
            {"compare": {"accelerators": "h100_sxm,h200_sxm"}, "money": {"usd_per_hour": {"h200_sxm": 1.0}}}
        ),
        with_break_even=False,
    )
    assert before.colocated.design["accelerator"] == "h100_sxm"
    assert after.colocated.design["accelerator"] == "h200_sxm"
    assert after.colocated.cost_usd_per_hour < before.colocated.cost_usd_per_hour  # type: ignore[operator]
    assert after.verdict.ratios.cost < before.verdict.ratios.cost  # type: ignore[operator]


def test_what_is_pinned_stays() -> None:
    scenario = Scenario.model_validate(
        {
            "colocated": {"tp": 8, "chunk_tokens": 2048, "instances": 3},
            "prefill": {"tp": 2, "instances": 3},
            "decode": {"tp": 4, "instances": 2},
        }
    )
    answer = evaluate(scenario, with_break_even=False)
    assert answer.colocated_fleet is not None
    assert answer.disaggregated_fleet is not None
    assert (answer.colocated_fleet.instance.gpus, answer.colocated_fleet.instances) == (8, 3)
    assert answer.colocated_fleet.chunk_tokens == 2048
    assert answer.disaggregated.instances == {"prefill": 3, "decode": 2}
    assert answer.disaggregated_fleet.gpus == 3 * 2 + 2 * 4


def test_too_few_pinned_instances_is_a_value_with_the_numbers() -> None:
    scenario = Scenario.model_validate({"workload": {"rate_per_s": 500}, "prefill": {"instances": 1}})
    limit = evaluate(scenario, with_break_even=False).disaggregated.infeasible
    assert isinstance(limit, Infeasible)
    assert limit.limit == "capacity"
    assert "1 prefill instance" in limit.text


def test_an_unpriced_accelerator_is_judged_per_gpu_with_the_price_that_flips() -> None:
    scenario = Scenario.model_validate(
        {
            "prefill": {"accelerator": "rtx_pro_5000_48"},
            "decode": {"accelerator": "h20_96"},
            "model": {"name": "qwen3_8b", "weight_format": "fp8"},
        }
    )
    answer = evaluate(scenario)
    assert answer.verdict.decided_by == "goodput_per_gpu_ratio"
    assert answer.verdict.ratios.cost is None
    assert answer.disaggregated.cost_usd_per_hour is None
    assert "money.usd_per_hour.rtx_pro_5000_48" in answer.disaggregated.money_note
    keys = {b.key for b in answer.verdict.break_even}
    assert "money.usd_per_hour.rtx_pro_5000_48" in keys


def test_a_missing_figure_can_be_set() -> None:
    settings = {
        "prefill": {"accelerator": "ascend_910b"},
        "model": {"name": "qwen3_8b", "weight_format": "bf16"},
    }
    missing = evaluate(Scenario.model_validate(settings), with_break_even=False).disaggregated.infeasible
    assert missing is not None
    assert missing.limit == "missing_figure"
    settings["overrides"] = {
        "ascend_910b": {"memory_bandwidth_gb_per_s": 1600.0, "scale_up_gb_per_s_per_direction": 200.0}
    }  # type: ignore[assignment]
    assert evaluate(Scenario.model_validate(settings), with_break_even=False).disaggregated.feasible


@pytest.mark.parametrize("basis", ["most_goodput", "equal_gpus"])
def test_budgets_are_kept_to(basis: str) -> None:
    scenario = Scenario.model_validate({"compare": {"basis": basis, "budget_usd_per_hour": 50.0, "gpus": 16}})
    answer = evaluate(scenario, with_break_even=False)
    for side in (answer.colocated, answer.disaggregated):
        assert side.feasible
        assert side.gpus is not None
        assert side.gpus <= (16 if basis == "equal_gpus" else 16.95)
    by_basis = {"equal_gpus": "goodput_ratio", "most_goodput": "goodput_per_dollar_ratio"}
    assert answer.verdict.decided_by == by_basis[basis]
    served = answer.disaggregated.throughput_per_s / answer.colocated.throughput_per_s  # type: ignore[operator]
    assert answer.verdict.ratios.goodput == (pytest.approx(served) if basis == "equal_gpus" else None)


def test_pipeline_stages_are_searched_where_they_are_asked_for() -> None:
    """A model that fits no eight of these cards has to be cut by layers, and the search finds how."""
    big = {
        "model.name": "llama_3_1_405b", "model.weight_format": "bf16", "slo.ttft_s": "20",
        "slo.tpot_ms": "200", "workload.rate_per_s": "0.2",
    }  # fmt: skip
    one, _ = apply_settings(Scenario(), big)
    free, refused = apply_settings(one, {f"{pool}.pp": "auto" for pool in ("colocated", "prefill", "decode")})
    assert refused == ()
    assert not evaluate(one, with_break_even=False).colocated.feasible
    found = evaluate(free, with_break_even=False)
    assert found.colocated.feasible
    assert found.disaggregated.feasible
    assert found.colocated.design["pp"] > 1
    assert found.colocated_fleet is not None
    assert found.colocated_fleet.instance.parallelism.pp == found.colocated.design["pp"]


def test_a_spare_of_every_pool_is_bought_and_paid_for() -> None:
    base, _ = apply_settings(Scenario(), {"decode.instances": "4"})
    spared, refused = apply_settings(base, {"compare.spare_instances": "1"})
    assert refused == ()
    lean, safe = (evaluate(each, with_break_even=False) for each in (base, spared))
    for fleet in (lean, safe):
        assert fleet.colocated_fleet is not None
        assert fleet.disaggregated_fleet is not None
    one, more = lean.colocated_fleet, safe.colocated_fleet
    assert more.instances * more.instance.gpus > one.instances * one.instance.gpus  # type: ignore[union-attr]
    assert safe.disaggregated_fleet.decode_instances == 4  # type: ignore[union-attr]
    assert safe.disaggregated.cost_usd_per_hour > lean.disaggregated.cost_usd_per_hour  # type: ignore[operator]
    for side in (safe.colocated, safe.disaggregated):
        assert side.feasible
        assert side.attainment_fraction >= 0.95  # type: ignore[operator]
    (chosen,) = [c for c in safe.candidates if c.chosen and c.fleet == "disaggregated"]
    assert chosen.gpus == safe.disaggregated.gpus
    assert chosen.cost_usd_per_hour == pytest.approx(safe.disaggregated.cost_usd_per_hour)


def test_equal_gpus_are_decided_by_what_fits_into_them() -> None:
    """Eight GPUs hold two of these colocated instances or 2P + 1D, which no unrounded ratio knows."""
    box = {
        "model.name": "qwen3_32b", "workload.input_distribution": "fixed", "workload.output_tokens": "1000",
        "workload.output_distribution": "fixed", "slo.tpot_ms": "30", "prefill.accelerator": "l40s",
        "decode.accelerator": "l40s", "network.link": "pcie4_x16", "compare.basis": "equal_gpus",
        "verdict.pays_ratio": "2.3", "verdict.clearly_ratio": "2.3",
    }  # fmt: skip
    small, refused = apply_settings(Scenario(), box)
    large, _ = apply_settings(small, {"compare.gpus": "8000"})
    assert refused == ()
    eight, many = (evaluate(each, with_break_even=False).verdict for each in (small, large))
    assert eight.ratios.goodput_per_gpu == pytest.approx(many.ratios.goodput_per_gpu)
    assert many.ratio == pytest.approx(many.ratios.goodput_per_gpu, rel=0.03)
    assert eight.ratio < 0.9 * many.ratio  # type: ignore[operator]
    assert "at unrounded scale" in eight.sentence


def test_a_hundred_times_the_gpus_serve_a_hundred_times_the_requests() -> None:
    """All but 2%: prefill instances are counted by what one carries in a pool for the scenario's own demand,
    and a larger pool that could run each nearer to full is not filled up again.
    """
    served = []
    for gpus in ("1000", "100000"):
        scenario, refused = apply_settings(Scenario(), {"compare.basis": "equal_gpus", "compare.gpus": gpus})
        assert refused == ()
        answer = evaluate(scenario, with_break_even=False)
        served.append((answer.colocated.goodput_per_s, answer.disaggregated.goodput_per_s))
    for few, many in zip(*served, strict=True):
        assert few is not None
        assert many is not None
        assert many > 98.0 * few


def test_evaluate_imports_neither_pandas_nor_the_page() -> None:
    code = (
        "import sys; from pdexplorer.study.compare import evaluate;"
        "from pdexplorer.scenario.scenario import Scenario; evaluate(Scenario());"
        "print([m for m in ('pandas', 'altair', 'streamlit', 'simpy') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_unknown_ids_are_one_clear_line() -> None:
    with pytest.raises(ValueError, match="accelerator") as caught:
        evaluate(Scenario.model_validate({"prefill": {"accelerator": "h1000"}}), load_catalog())
    assert "\n" not in str(caught.value)


def test_a_baseline_on_another_engine_is_called_out_and_runs_it() -> None:
    asked = {"colocated.engine": "vllm_2023", "engine.chunking": "unchunked", "compare.basis": "most_goodput"}
    scenario, refused = apply_settings(Scenario(), asked)
    assert refused == ()
    same, _ = apply_settings(Scenario(), {"compare.basis": "most_goodput"})
    old, fair = (evaluate(each, with_break_even=False) for each in (scenario, same))
    assert old.colocated_fleet is not None
    assert old.disaggregated_fleet is not None
    assert old.colocated_fleet.instance.engine.id == "vllm_2023"
    assert old.disaggregated_fleet.prefill.engine.id == old.disaggregated_fleet.decode.engine.id == "vllm"
    assert old.verdict.ratio > fair.verdict.ratio  # type: ignore[operator]
    assert "not fair: colocated runs vLLM of 2023" in old.verdict.sentence
    assert "without chunked prefill" in old.verdict.sentence
    assert "not fair" not in fair.verdict.sentence
    assert any(line.startswith("engine vllm_2023") for line in old.sources)
