"""Random settings over the presets: no exception, no warning, and what is feasible holds the SLO."""

import json
import math
import random
import warnings

import pytest

from pdexplorer.metrics.outcome import PARTS, Outcome
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate

CHOICES = {
    "workload.input_tokens": ("1", "54", "900", "9000", "60000"),
    "workload.output_tokens": ("1", "2", "30", "400", "3000"),
    "workload.rate_per_s": ("1e-6", "0.01", "0.7", "9", "130", "4000"),
    "workload.prefix_hit_fraction": ("0", "0.3", "0.7"),
    "workload.arrivals": ("poisson", "gamma", "closed_loop"),
    "workload.concurrency": ("1", "12", "200", "3000"),
    "workload.input_distribution": ("fixed", "lognormal", "heavy_tail"),
    "workload.output_distribution": ("fixed", "lognormal", "heavy_tail"),
    "workload.peak_to_mean_ratio": ("1", "2", "10"),
    "workload.mode": ("online", "online", "online", "offline"),
    "slo.ttft_s": ("none", "0.2", "1", "8"),
    "slo.tpot_ms": ("none", "9", "30", "200"),
    "slo.e2e_s": ("none", "1.5", "20"),
    "slo.percentile": ("50", "90", "99", "99.9"),
    "model.name": ("llama_3_1_8b", "llama_3_1_70b", "qwen3_32b", "deepseek_v2_lite", "gpt_oss_120b"),
    "prefill.accelerator": ("h100_sxm", "h20_96", "rtx_pro_5000_48", "ascend_910b"),
    "decode.accelerator": ("h100_sxm", "h200_sxm", "h20_96", "a800_80_sxm"),
    "prefill.instances": ("1", "5"),
    "decode.instances": ("1", "5"),
    "colocated.instances": ("1", "5"),
    "colocated.max_batch": ("1", "64", "2048"),
    "decode.max_batch": ("1", "64", "2048"),
    "compare.basis": ("least_cost", "most_goodput", "equal_gpus", "fixed_fleets"),
    "compare.gpus": ("1", "16", "300"),
    "compare.budget_usd_per_hour": ("0.5", "40", "1500"),
    "network.first_token_from": ("prefill", "decode"),
    "engine.chunking": ("chunked", "prefill_first", "unchunked"),
    "routing.policy": ("least_loaded", "round_robin"),
}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_feasible_holds_the_slo(seed: int) -> None:
    draw = random.Random(seed)
    preset = draw.choice(sorted(load_presets()))
    changes = {key: draw.choice(CHOICES[key]) for key in draw.sample(sorted(CHOICES), draw.choice((2, 4, 8)))}
    scenario, _ = apply_settings(load_presets()[preset].scenario, changes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = evaluate(scenario, with_break_even=False)
    json.dumps(answer.to_json(), allow_nan=False)
    for side in (answer.colocated, answer.disaggregated):
        assert side.feasible == (side.infeasible is None)
        if side.feasible:
            _holds(scenario, side)


def _holds(scenario: Scenario, side: Outcome) -> None:
    assert side.attainment_fraction is not None
    if scenario.workload.mode == "online":
        assert side.attainment_fraction >= scenario.slo.percentile / 100.0 - 0.005
    for spread in (side.ttft_s, side.tpot_s, side.itl_s, side.e2e_s, side.kv_transfer_s):
        if spread is not None:
            assert all(math.isfinite(value) for value in (spread.p50, spread.p95, spread.p99))
    parts = side.cost_per_request_usd
    if parts:
        assert sum(parts[part] for part in PARTS) == pytest.approx(parts["total"], rel=1e-9)
