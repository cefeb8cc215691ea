"""How runs were launched: graphs, budgets of prompt tokens and KV, as public scripts say."""

import math

from pdexplorer.evidence.serving_points import ServingPoint, parse_serving
from pdexplorer.evidence.serving_setup import chunk_tokens
from pdexplorer.evidence.serving_vllm import graph_tokens

from .test_serving_points import ROW


def point(concurrency: int, measured: str, **cells: str) -> ServingPoint:
    source = f"x; silicon_concurrency={concurrency}; measured={measured}"
    return parse_serving(1, {**ROW, "silicon_data_source": source, "backend": "vllm", **cells})


def test_vllm_captures_twice_its_load_up_to_512_unless_told_otherwise() -> None:
    kimi = {"model_path": "nvidia/Kimi-K2.5-NVFP4", "gemm_quant_mode": "nvfp4", "moe_quant_mode": "nvfp4"}
    assert graph_tokens(point(4, "2026-03-27", **kimi)) == 8
    assert graph_tokens(point(512, "2026-03-27", **kimi)) == 512
    assert graph_tokens(point(4, "2026-04-20", **kimi)) == 2048
    minimax = {"model_path": "MiniMaxAI/MiniMax-M2.5"}
    assert graph_tokens(point(4, "2026-04-03", **minimax, backend_version="0.17.0")) == 512
    assert graph_tokens(point(4, "2026-04-03", **minimax, backend_version="0.19.0")) == 2048
    assert graph_tokens(point(4, "2026-04-03", model_path="openai/gpt-oss-120b")) == 2048
    assert graph_tokens(point(4, "2026-04-03", backend="sglang")) == math.inf


def test_tuned_scripts_take_two_prompts_a_step() -> None:
    minimax = {"model_path": "MiniMaxAI/MiniMax-M2.5", "isl": "1024"}
    assert chunk_tokens(point(4, "2026-04-03", **minimax, backend_version="0.17.0")) == 8192
    assert chunk_tokens(point(4, "2026-04-03", **minimax, backend_version="0.19.0")) == 2048
