"""Points files: three layouts in, one clear line for what is wrong."""

from pathlib import Path

import pytest

from pdexplorer.evidence.points import StepPoint, read_points

OWN = (
    "engine,system,model,weight_format,kv_format,tp,pp,ep,attention_dp,"
    "phase,batch,new_tokens,cached_tokens,context_tokens\n"
)
REFERENCE = Path(__file__).parents[1] / "reference"


def read(tmp_path: Path, text: str) -> list[StepPoint]:
    file = tmp_path / "points.csv"
    file.write_text(text)
    return read_points(file)


def test_own_layout(tmp_path: Path) -> None:
    rows = "sglang,H200,deepseek_v3,fp8_block,fp8,1,,8,8,decode,16,,,4096\n"
    (point,) = read(tmp_path, OWN + rows)
    assert (point.engine, point.accelerator, point.model) == ("sglang", "h200_sxm", "deepseek_v3")
    assert (point.tp, point.pp, point.ep, point.attention_dp) == (1, 1, 8, 8)
    assert (point.decode_batch, point.context_tokens, point.prefill_batch) == (16, 4096, 0)


def test_defaults_where_columns_are_missing(tmp_path: Path) -> None:
    (point,) = read(tmp_path, "system,model,phase,new_tokens\nh100_sxm,Qwen/Qwen3-32B-FP8,prefill,2048\n")
    assert (point.engine, point.weight_format, point.kv_format) == ("vllm", "fp8_block", "bf16")
    assert (point.tp, point.prefill_batch, point.cached_tokens) == (1, 1, 0)


def test_step_times_layout_as_it_is() -> None:
    points = read_points(REFERENCE / "step_times.csv")
    by_model = {(p.model, p.weight_format) for p in points}
    assert ("gpt_oss_120b", "mxfp4") in by_model
    assert ("llama_3_1_70b", "fp8") in by_model
    assert all(p.measured_ms for p in points)
    cached = [p for p in points if p.cached_tokens]
    assert all(p.new_tokens + p.cached_tokens == float(p.raw["context_len"]) for p in cached)


def test_mixed_layout_has_both_parts() -> None:
    mixed = [p for p in read_points(REFERENCE / "mixed_steps.csv") if p.phase == "mixed"]
    assert len(mixed) == 24
    assert all(p.prefill_batch == 1 and p.new_tokens and p.decode_batch for p in mixed)
    assert {p.accelerator for p in mixed} == {"rtx4090", "rtx_pro_6000_ws"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("vllm,h100_sxm,llama_9b,bf16,bf16,1,1,1,1,decode,1,,,100", "model = 'llama_9b'"),
        ("vllm,warp9,llama_3_1_8b,bf16,bf16,1,1,1,1,decode,1,,,100", "system = 'warp9'"),
        ("vllm,h100_sxm,llama_3_1_8b,fp3,bf16,1,1,1,1,decode,1,,,100", "weight_format = 'fp3'"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,fp4,1,1,1,1,decode,1,,,100", "kv_format = 'fp4'"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,bf16,0,1,1,1,decode,1,,,100", "tp = '0'"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,bf16,1,1,1,1,decode,-2,,,100", "batch = '-2'"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,bf16,1,1,1,1,decode,1.5,,,100", "whole number"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,bf16,1,1,1,1,prefill,1,,,", "new_tokens is empty"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,bf16,1,1,1,1,sleep,1,,,", "phase = 'sleep'"),
        ("vllm,h100_sxm,llama_3_1_8b,bf16,bf16,1,1,1,1,decode,nan,,,1", "batch = 'nan'"),
    ],
)
def test_a_broken_row_is_named_with_key_and_value(tmp_path: Path, row: str, words: str) -> None:
    good = "vllm,h100_sxm,llama_3_1_8b,bf16,bf16,1,1,1,1,decode,1,,,100\n"
    with pytest.raises(ValueError, match="row 3: ") as caught:
        read(tmp_path, OWN + good + row + "\n")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", OWN])
def test_a_file_without_points_says_what_was_expected(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read(tmp_path, text)
