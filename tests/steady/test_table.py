import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.memory import kv_capacity_tokens
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.step import step_time_s
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.table import StepTable, build_table

ONE = np.array(0)


def _table(model: str, tp: int) -> tuple[object, StepTable]:
    scenario = Scenario.model_validate({"model": {"name": model}})
    instance = resolve_instance(load_catalog(), scenario, accelerator_id="h200_sxm", tp=tp)
    assert not isinstance(instance, Infeasible)
    kv = kv_capacity_tokens(instance)
    assert not isinstance(kv, Infeasible)
    return instance, build_table([instance], [kv], 256, step_time_s)


@pytest.mark.parametrize("model", ["llama_3_1_70b", "qwen3_30b_a3b", "gpt_oss_20b"])
def test_grids_meet_the_physics_between_their_nodes(model: str) -> None:
    instance, table = _table(model, 2)
    for tokens, past in ((100, 0), (700, 3000), (5000, 1500), (13000, 20000)):
        exact = float(step_time_s(instance, prefill_tokens=tokens, prefill_past_tokens=past))
        read = float(table.one_step_s(np.array(float(tokens)), np.array(float(past)), ONE))
        assert read == pytest.approx(exact, rel=0.03)
    for batch, context in ((3, 700), (23, 3000), (150, 9000)):
        exact = float(step_time_s(instance, decode_batch=batch, decode_context_tokens=context))
        column = table.decode_at(np.array([[float(context)]]), table.every)[:, 0, 0, 0, 0]
        assert float(np.interp(batch, table.batch_nodes, column)) == pytest.approx(exact, rel=0.03)


def test_a_long_prompt_is_the_sum_of_its_steps() -> None:
    instance, table = _table("llama_3_1_70b", 2)
    steps = [(8192, 0), (8192, 8192), (3616, 16384)]
    exact = sum(float(step_time_s(instance, prefill_tokens=n, prefill_past_tokens=past)) for n, past in steps)
    read = float(table.prefill_s(np.array(20000.0), np.array(0.0), 8192.0, ONE))
    assert read == pytest.approx(exact, rel=0.03)


def test_a_lone_prompt_runs_on_one_attention_rank() -> None:
    scenario = Scenario.model_validate({"model": {"name": "deepseek_v3", "weight_format": "fp8_block"}})
    instance = resolve_instance(
        load_catalog(), scenario, accelerator_id="h200_sxm", tp=1, attention_dp=8, ep=8
    )
    assert not isinstance(instance, Infeasible)
    table = build_table([instance], [1e6], 256, step_time_s)
    exact = float(step_time_s(instance, prefill_tokens=3000, prefill_past_tokens=1000))
    lone = float(table.few_prompts_s(np.array(3000.0), np.array(1000.0), 1.0, ONE))
    assert lone == pytest.approx(exact, rel=0.03)
    each = float(step_time_s(instance, prefill_tokens=8 * 3000, prefill_sequences=8))
    assert float(table.few_prompts_s(np.array(3000.0), np.array(0.0), 8.0, ONE)) == pytest.approx(
        each, rel=0.03
    )
