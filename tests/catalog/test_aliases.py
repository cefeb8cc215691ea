"""Names that data files and people use find one record each."""

import csv

import pytest

from pdexplorer.catalog.aliases import (
    resolve_accelerator,
    resolve_engine,
    resolve_format,
    resolve_model,
)
from pdexplorer.catalog.catalog import load_catalog
from tests.shared_data import shared_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a100_sxm", "a100_80_sxm"),
        ("A100-80GB", "a100_80_sxm"),
        ("h100-80gb", "h100_sxm"),
        ("RTXPRO6000", "rtx_pro_6000_ws"),
        ("rtx_pro_6000_server", "rtx_pro_6000_server"),
        ("RTX4090", "rtx4090"),
        ("H20", "h20_96"),
        ("Instinct MI300X", "mi300x"),
    ],
)
def test_accelerators(name: str, expected: str) -> None:
    assert resolve_accelerator(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama2-70b", ("llama_2_70b", None)),
        ("bloom-176b", ("bloom_176b", None)),
        ("Qwen/Qwen3-32B", ("qwen3_32b", None)),
        ("Qwen/Qwen3-32B-FP8", ("qwen3_32b", "fp8_block")),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", ("llama_3_1_70b", "fp8")),
        ("deepseek-ai/DeepSeek-R1", ("deepseek_r1", "fp8_block")),
        ("nvidia/DeepSeek-R1-NVFP4", ("deepseek_r1", "nvfp4")),
        ("openai/gpt-oss-120b", ("gpt_oss_120b", "mxfp4")),
        ("moonshotai/Kimi-K2.5", ("kimi_k2_5", "int4")),
        ("QWEN3-235B-A22B", ("qwen3_235b_a22b", None)),
        ("qwen3_235b_a22b", ("qwen3_235b_a22b", None)),
    ],
)
def test_models(name: str, expected: tuple[str, str | None]) -> None:
    assert resolve_model(name) == expected


def test_every_id_name_and_hf_id_finds_its_own_record() -> None:
    catalog = load_catalog()
    for key, record in catalog.model_records.items():
        assert {resolve_model(name)[0] for name in (key, record.hf_id, record.architecture.name)} == {key}
    for key, device in catalog.accelerators.items():
        assert resolve_accelerator(key) == resolve_accelerator(device.name) == key


def test_engines_and_formats() -> None:
    assert resolve_engine("TensorRT-LLM") == "trtllm"
    assert resolve_engine("vllm_2023") == "vllm_2023"
    assert resolve_engine("llama.cpp") == resolve_engine("ExLlamaV2") == "local"
    assert resolve_format("bfloat16") == "bf16"
    assert resolve_format("w4a16_mxfp4") == "mxfp4"


def test_unknown_names_say_what_is_close() -> None:
    with pytest.raises(ValueError, match=r"unknown model 'qwen3-23b'.*qwen3_32b"):
        resolve_model("qwen3-23b")
    with pytest.raises(ValueError, match=r"unknown accelerator 'h1000'.*h100_sxm"):
        resolve_accelerator("h1000")
    with pytest.raises(ValueError, match=r"unknown engine 'lmdeploy'.*known: local, sglang, trtllm, vllm"):
        resolve_engine("lmdeploy")


@pytest.mark.parametrize(
    "file", ["step_times", "serving", "mixed_steps", "vllm_runs", "splitwise_perf_model"]
)
def test_every_name_of_the_measured_files_resolves(file: str) -> None:
    derived = {"h100-80gb-pcap"}  # a power-capped H100, computed and not measured: no card of its own here
    with shared_path(f"measured/{file}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for columns, resolve in (
        (("model", "model_path"), resolve_model),
        (("system", "hardware"), resolve_accelerator),
        (("backend",), resolve_engine),
        (("gemm_quant", "moe_quant", "kv_quant", "gemm_quant_mode", "moe_quant_mode"), resolve_format),
    ):
        for name in {row[column] for row in rows for column in columns if row.get(column)} - derived:
            assert resolve(name)
