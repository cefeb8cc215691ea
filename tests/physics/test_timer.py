"""The simulator's clock equals step_time_s and is affine in context where the simulator relies on it."""

import numpy as np
import pytest

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.pairs import past_read
from pdexplorer.physics.step import step_time_s
from pdexplorer.physics.timer import compile_timer, prefill_pairs

from .conftest import Make

CASES = [
    ("h100_sxm", "llama_3_1_70b", {"tp": 4, "weights": "fp8"}),
    ("h100_sxm", "llama_3_1_70b", {"tp": 2, "pp": 2, "weights": "fp8"}),
    ("h200_sxm", "deepseek_v3", {"ep": 8, "attention_dp": 8, "weights": "fp8_block", "kv": "fp8"}),
    ("h200_sxm", "qwen3_30b_a3b", {"tp": 2, "ep": 2}),
    ("b200_sxm", "gpt_oss_120b", {"weights": "mxfp4"}),
    ("h200_sxm", "deepseek_v3_2", {"tp": 8, "weights": "fp8_block"}),
    ("h200_sxm", "deepseek_v4_flash", {"tp": 8, "weights": "fp8_mxfp4", "kv": "fp8"}),
    ("rtx4090", "llama_3_1_8b", {}),
    ("rtx_pro_6000_ws", "gpt_oss_20b", {"pp": 2, "weights": "mxfp4"}),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[1]}-{case[0]}-{case[2].get('pp', 1)}")
def instance(request: pytest.FixtureRequest, make: Make) -> Instance:
    accelerator, model, options = request.param
    return make(accelerator, model, **options)


@pytest.mark.parametrize("sequences", [1, 3])
@pytest.mark.parametrize("batch", [0, 1, 17, 128])
@pytest.mark.parametrize("past", [0, 95_000])
def test_mixed_steps_equal_step_time(instance: Instance, sequences: int, batch: int, past: int) -> None:
    timer = compile_timer(instance)
    window = timer.window_tokens
    new, context = 700, 9_000
    reads = past_read(past, window) * sequences if window else 0.0
    pairs = prefill_pairs(new, past, window) * sequences if window else 0.0
    got = timer.mixed_s(
        new * sequences,
        prefill_pairs(new, past) * sequences,
        pairs,
        past * sequences,
        reads,
        sequences,
        batch,
        batch * context,
        batch * min(context, window) if window else 0.0,
    )
    want = step_time_s(
        instance,
        prefill_tokens=new * sequences,
        prefill_past_tokens=past,
        prefill_sequences=sequences,
        decode_batch=batch,
        decode_context_tokens=context,
    )
    assert got == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("batch", [1, 5, 64, 301])
def test_decode_is_affine_in_context(instance: Instance, batch: int) -> None:
    timer = compile_timer(instance)
    fixed, per_full, per_window = timer.decode_coefficients(batch)
    contexts = np.array([1.0, 100.0, 4_000.0, 131_072.0])
    capped = np.minimum(contexts, timer.window_tokens or np.inf)
    affine = fixed + per_full * batch * contexts + per_window * batch * capped
    want = step_time_s(instance, decode_batch=batch, decode_context_tokens=contexts)
    np.testing.assert_allclose(affine, want, rtol=1e-12)


def test_a_decode_only_step_is_a_mixed_step_without_prefill(instance: Instance) -> None:
    timer = compile_timer(instance)
    fixed, per_full, per_window = timer.decode_coefficients(40)
    mixed = timer.mixed_s(0, 0.0, 0.0, 0.0, 0.0, 0, 40, 80_000.0, 20_000.0)
    assert mixed == pytest.approx(fixed + per_full * 80_000.0 + per_window * 20_000.0, rel=1e-12)
