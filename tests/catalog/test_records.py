"""A catalogue file loads only where every number says how it is known and who says so."""

import tomllib

import pytest

from pdexplorer.catalog.read_accelerators import read_accelerators
from pdexplorer.catalog.read_links import read_engines, read_links
from pdexplorer.catalog.read_models import read_models

LINK = """
[sources]
spec = "a standard"
[wire]
name = "Wire"
datasheet.spec.line_rate_gbit_per_s = 100
measured.spec.effective_fraction = 0.9
assumed.spec.transfer_setup_ms = 1
assumed.spec.base_latency_us = 5
"""
CHIP = """
[chip]
name = "Chip"
unsupported_formats = ["fp8", "fp4"]
unpublished = ["memory_bandwidth_gb_per_s", "tops_int8_dense", "scale_up_gb_per_s_per_direction",
  "scale_up_domain_devices", "pcie_gb_per_s_per_direction", "typical_nic_gbit_per_s", "tdp_w",
  "rent_usd_per_hour_typical", "launch_price_usd"]
[chip.sources]
spec = "a datasheet"
[chip.datasheet.spec]
memory_gb = 80
tflops_bf16_dense = 300
"""


def test_a_sound_link_loads_with_si_values() -> None:
    link = read_links("x.toml", tomllib.loads(LINK))["wire"]
    assert link.byte_per_s == 12.5e9
    assert link.latency_s == pytest.approx(1.005e-3)
    assert link.figures["effective_fraction"].kind == "measured"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "measured.spec.effective_fraction = 0.9",
            "effective_fraction = 0.9",
            "wire.effective_fraction = 0.9 has no kind",
        ),
        ("measured.spec.effective_fraction", "measured.effective_fraction", "has no kind and source"),
        ("measured.spec.effective_fraction", "guessed.spec.effective_fraction", "wire.guessed"),
        ("measured.spec.effective_fraction", "measured.rumour.effective_fraction", "not among its sources"),
        ("measured.spec.effective_fraction = 0.9", "measured.spec.effective_fraction = nan", "finite number"),
        (
            "measured.spec.effective_fraction = 0.9",
            'measured.spec.effective_fraction = "0.9"',
            "finite number",
        ),
        ("measured.spec.effective_fraction", "measured.spec.efective_fraction", "not a field"),
        ("measured.spec.effective_fraction = 0.9", "", "wire.effective_fraction is missing"),
        ("assumed.spec.base_latency_us", "datasheet.spec.effective_fraction", "given twice"),
        ('spec = "a standard"', 'spec = ""', "must say where"),
    ],
)
def test_a_link_without_source_or_kind_does_not_load(old: str, new: str, says: str) -> None:
    assert old in LINK
    with pytest.raises(ValueError, match=r"x\.toml: ") as error:
        read_links("x.toml", tomllib.loads(LINK.replace(old, new)))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_unsupported_is_absent_and_unpublished_is_none() -> None:
    chip = read_accelerators("x.toml", tomllib.loads(CHIP))["chip"]
    assert chip.flop_per_s == {"bf16": 300e12, "int8": None}
    assert chip.figures["tdp_w"].value is None


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"tdp_w",', "", "chip.tdp_w is missing"),
        ("memory_gb = 80", "", "chip.memory_gb is missing"),
        ('["fp8", "fp4"]', '["fp8"]', "chip.tflops_fp4_dense is missing"),
        ('["fp8", "fp4"]', '["fp8", "fp4", "fp2"]', "fp2"),
        ("memory_gb = 80", "memory_gb = 80\ntdp_w = 300", "said twice"),
        ("[chip.datasheet.spec]", "[chip.spec]", "no kind and source"),
    ],
)
def test_an_accelerator_accounts_for_every_field(old: str, new: str, says: str) -> None:
    assert old in CHIP
    with pytest.raises(ValueError, match=r"x\.toml: chip") as error:
        read_accelerators("x.toml", tomllib.loads(CHIP.replace(old, new)))
    assert says in str(error.value)


def test_a_model_without_source_or_kind_does_not_load() -> None:
    counts = {"layers": 2, "full_layers": 2, "hidden_size": 8, "heads": 2, "kv_heads": 2, "head_dim": 4}
    counts |= {"intermediate_size": 16, "vocab_size": 10}
    sound = {"tiny": {"source": "a config.json", "kind": "published", **counts}}
    assert read_models({"m.toml": sound})["tiny"].architecture.layers == 2
    for missing in ("source", "kind", "layers"):
        broken = {"tiny": {key: value for key, value in sound["tiny"].items() if key != missing}}
        with pytest.raises(ValueError, match=rf"m\.toml: tiny\.{missing}"):
            read_models({"m.toml": broken})
    with pytest.raises(ValueError, match=r"m\.toml: copy\.like"):
        read_models({"m.toml": {"copy": {"like": "nobody", "source": "x", "kind": "assumed"}}})


def test_an_engine_needs_all_three_overheads() -> None:
    with pytest.raises(ValueError, match=r"e\.toml: fast\.layer_overhead_us is missing"):
        read_engines(
            "e.toml",
            {"fast": {"sources": {"s": "a fit"}, "fitted": {"s": {"step_overhead_ms": 1}}}},
        )
