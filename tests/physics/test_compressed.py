"""Attention over compressed KV entries (DeepSeek-V4): bytes, reads and FLOP by hand, times against published
runs.
"""

import numpy as np
import pytest

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.physics.entries import index_keys, reach
from pdexplorer.physics.instance import Instance, Parallelism
from pdexplorer.physics.memory import (
    index_bytes_per_token,
    kv_bytes,
    kv_bytes_per_token_held,
    kv_moved_bytes,
    sequence_bytes,
    weight_bytes,
)
from pdexplorer.physics.parameters import parameter_count
from pdexplorer.physics.serving import in_serving
from pdexplorer.physics.shapes import attention_flop, element_bytes, latent_bytes
from pdexplorer.physics.step import step_time_s
from pdexplorer.units import GB, GIB

from .conftest import Make

PRO, FLASH, V32 = "deepseek_v4_pro", "deepseek_v4_flash", "deepseek_v3_2"
LONG = 2**20
FP8_OF_V32 = 61 * (656 + 132)
"""Bytes a token in vLLM: 512 + 16 of scales + 128 of rotary part, and an index key with its scale."""


def model(name: str) -> Architecture:
    return load_catalog().models[name]


def test_an_entry_is_key_and_value_at_once() -> None:
    for name in (PRO, FLASH):
        assert latent_bytes(model(name), "bf16") == 2 * 512
        assert latent_bytes(model(name), "fp8") == 448 + 2 * 64 + 8 == 584
    assert latent_bytes(model(V32), "fp8") == 576


@pytest.mark.parametrize(("name", "layers", "light", "heavy"), [(PRO, 61, 30, 31), (FLASH, 43, 21, 20)])
@pytest.mark.parametrize(("kv", "entry"), [("bf16", 1024), ("fp8", 584)])
@pytest.mark.parametrize("tokens", [131_072, LONG])
def test_bytes_of_a_sequence(
    name: str, layers: int, light: int, heavy: int, kv: str, entry: int, tokens: int
) -> None:
    entries = light * (entry + 128) * tokens / 4 + heavy * entry * tokens / 128
    windows = layers * 128 * entry
    # float32 values and gates: two overlapping groups of 4, rows of 2 x 512 and of 2 x 128; one of 128
    state = 4 * (light * 8 * 2 * (1024 + 256) + heavy * 128 * 2 * 512)
    assert sequence_bytes(model(name), kv) == windows + state
    assert kv_bytes(model(name), kv, tokens) == entries + windows + state


def test_pro_holds_what_vllm_counts_for_a_million_tokens() -> None:
    """9.62 GiB in bf16, 8.7 times less than V3.2's (vLLM's blog on DeepSeek-V4): index keys in bf16 too."""
    pro, v32 = model(PRO), model(V32)
    second_byte = [index_bytes_per_token(each) * LONG for each in (pro, v32)]
    kept = kv_bytes(pro, "bf16", LONG) + second_byte[0]
    assert kept / GIB == pytest.approx(9.62, rel=0.005)
    assert (kv_bytes(v32, "bf16", LONG) + second_byte[1]) / kept == pytest.approx(8.7, rel=0.005)


@pytest.mark.parametrize(("name", "share", "off"), [(PRO, 0.10, 0.01), (FLASH, 0.07, 0.005)])
def test_share_of_v32s_kv_in_the_technical_report(name: str, share: float, off: float) -> None:
    """In fp8 with index keys in fp4 (64 bytes and 4 of scales), as the report's figures need them."""
    keys = index_keys(model(name))
    kept = kv_bytes(model(name), "fp8", LONG) / LONG + keys * (64 + 4 - 128)
    assert kept / FP8_OF_V32 == pytest.approx(share, abs=off)


@pytest.mark.parametrize(("name", "share"), [(PRO, 0.27), (FLASH, 0.10)])
def test_share_of_v32s_flop_in_the_technical_report(name: str, share: float) -> None:
    """One token at a million, in fp8's FLOP: 16-bit attention counts double, fp4 indexing half."""

    def flop(each: Architecture, index_weight: float) -> float:
        read = reach(each)
        _, entry = attention_flop(each, each.heads, 0.0)
        entries = read.full * LONG + read.capped * min(LONG, read.cap_tokens or LONG) + read.local
        index = 2.0 * each.index_heads * each.index_dim * index_keys(each) * LONG
        return 2.0 * parameter_count(each).active_matmul + 2.0 * entry * entries + index_weight * index

    assert flop(model(name), 0.5) / flop(model(V32), 1.0) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(("name", "total", "active"), [(PRO, 1.6e12, 49e9), (FLASH, 284e9, 13e9)])
def test_parameters(name: str, total: float, active: float) -> None:
    count = parameter_count(model(name))
    assert count.total == pytest.approx(total, rel=0.02)
    assert count.active_matmul == pytest.approx(active, rel=0.02)


def test_flash_weighs_its_checkpoint_less_the_draft_layer() -> None:
    """159.6 GB of files with one more layer for drafts, which is a 44th of the body."""
    held = weight_bytes(model(FLASH), "fp8_mxfp4", Parallelism(1)) / GB
    assert held * 44 / 43 == pytest.approx(159.6, rel=0.01)


def test_queries_read_what_the_owners_code_reads() -> None:
    """Entries of a query with 4,096 and a million tokens of context (ROCm/ATOM issue 664)."""
    read = reach(model(FLASH))
    assert read.cap_tokens == 4 * 512
    assert (read.capped * read.cap_tokens) / 21 + 128 == 640
    assert read.full * 4096 / 20 + 128 == 160
    assert read.local == 43 * 128
    assert reach(model(PRO)).cap_tokens == 4 * 1024


def test_every_rank_of_a_tp_group_holds_and_is_sent_the_whole(make: Make) -> None:
    tp8 = make("h200_sxm", FLASH, tp=8, ep=8, weights="fp8_mxfp4", kv="fp8")
    dp8 = make("h200_sxm", FLASH, ep=8, attention_dp=8, weights="fp8_mxfp4", kv="fp8")
    assert kv_bytes_per_token_held(tp8) == 8 * kv_bytes_per_token_held(dp8)
    assert kv_moved_bytes(model(FLASH), "fp8", 4000, 8) == 8 * kv_bytes(model(FLASH), "fp8", 4000)


def test_context_costs_less_than_latents_of_single_tokens(make: Make) -> None:
    options = {"ep": 8, "attention_dp": 8, "kv": "fp8"}
    both = (make("h200_sxm", FLASH, weights="fp8_mxfp4", **options), make("h200_sxm", V32, **options))

    def grows(instance: Instance) -> float:
        times = step_time_s(instance, decode_batch=512, decode_context_tokens=np.array([8_192.0, 131_072.0]))
        return float(times[1] - times[0])

    assert grows(both[0]) < 0.25 * grows(both[1])


def test_residual_streams_are_all_read_and_written() -> None:
    flash = model(FLASH)
    one = flash.model_copy(update={"residual_streams": 1})
    assert element_bytes(flash, 1) == 2.5 * element_bytes(one, 1)


def test_kernels_are_inherited_and_say_so(make: Make) -> None:
    for engine in ("vllm", "sglang"):
        instance = make("h200_sxm", FLASH, ep=8, attention_dp=8, weights="fp8_mxfp4", engine=engine)
        for fit in (instance.efficiency.attention.fit, in_serving(instance).efficiency.attention.fit):
            assert fit.kind == "assumed"
            assert "compressed attention was not measured" in fit.source
    assert make("h200_sxm", V32, ep=8, attention_dp=8).efficiency.attention.fit.kind == "fitted"


def one_million_s(instance: Instance, ranks: int) -> float:
    """A prompt of a million tokens on each attention rank, alone, in chunks of 8,192."""
    chunk = 8192
    past = np.arange(LONG // chunk) * float(chunk)
    return float(
        np.sum(
            step_time_s(
                instance,
                prefill_tokens=float(chunk * ranks),
                prefill_past_tokens=past,
                prefill_sequences=float(ranks),
            )
        )
    )


def test_published_runs_lie_within_the_spread_that_is_said(make: Make) -> None:
    """None was used in a fit. vLLM issue 51454, 8 B200: 65 s for a prompt of a million tokens alone at tp 8,
    84.7 s for eight on ranks of their own. SGLang pull 33109, 4 H200, 8,192 tokens in and 1,024 out: 4,573
    tokens/s a GPU at a TPOT of 124 ms, so 250 at a time.
    """
    options = {"ep": 8, "weights": "fp8_mxfp4", "kv": "fp8"}
    one = one_million_s(in_serving(make("b200_sxm", FLASH, tp=8, **options)), 1)
    eight = one_million_s(in_serving(make("b200_sxm", FLASH, attention_dp=8, **options)), 8)
    h200 = in_serving(make("h200_sxm", FLASH, tp=4, weights="fp8_mxfp4", kv="fp8", engine="sglang"))
    decode = step_time_s(h200, decode_batch=250, decode_context_tokens=8192 + 512)
    request = step_time_s(h200, prefill_tokens=8192) + 1024 * decode / 250
    ratios = (65.0 / one, 84.7 / eight, 9216 / (4573 * 4) / request)
    assert min(ratios) > 0.7
    assert max(ratios) < 1.8
