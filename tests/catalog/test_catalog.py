"""Facts the catalogue must hold, their units, and figures set by hand."""

import pytest

from pdexplorer.catalog.catalog import load_catalog, required
from pdexplorer.catalog.read_accelerators import COMPUTE_FIELDS
from pdexplorer.catalog.records import data_tables, records_of
from pdexplorer.infeasible import Infeasible

ASKED_FOR = {
    "accelerators": """a100_80_sxm h100_sxm h200_sxm h20_96 l40s b200_sxm gb200 rtx_pro_5000_48
        rtx_pro_5000_72 rtx_pro_6000_ws rtx_pro_6000_server rtx4090 dgx_spark m5 m5_max m3_ultra mi300x
        ascend_910b""",
    "models": """llama_2_7b llama_3_1_8b llama_3_1_70b llama_3_1_405b qwen2_5_7b qwen2_5_72b qwen3_8b
        qwen3_32b qwen3_30b_a3b qwen3_235b_a22b mixtral_8x7b deepseek_v3 deepseek_r1 kimi_k2
        gpt_oss_20b gpt_oss_120b glm_4_5""",
    "links": """eth_10 eth_25 roce_100 roce_200 roce_400 roce_800 ib_hdr ib_ndr ib_xdr nvlink3 nvlink4
        nvlink5 nvl72 pcie4_x16 pcie5_x16 tcp_10 tcp_25 tcp_100 tcp_200 tcp_400 tcp_fallback
        efa_v3_p5en""",
    "engines": "vllm sglang trtllm local vllm_2023",
}


@pytest.mark.parametrize(("part", "ids"), ASKED_FOR.items())
def test_everything_asked_for_is_there(part: str, ids: str) -> None:
    assert not set(ids.split()) - getattr(load_catalog(), part).keys()


def test_every_model_has_a_source() -> None:
    catalog = load_catalog()
    assert catalog.model_sources.keys() == catalog.models.keys()
    assert all(catalog.model_sources.values())


def test_every_source_is_used() -> None:
    for prefix in ("accelerators", "links", "engines"):
        for file, content in data_tables(prefix):
            used = {
                (record_id, source)
                for record_id, record, _ in records_of(file, content)
                for kind, by_source in record.items()
                if kind != "sources" and isinstance(by_source, dict)
                for source in by_source
            }
            for record_id, record, _ in records_of(file, content):
                assert record.get("sources", {}).keys() <= {
                    source for owner, source in used if owner == record_id
                }
            assert content.get("sources", {}).keys() <= {source for _, source in used}, file


def test_units_are_decimal_dense_and_per_direction() -> None:
    h100 = load_catalog().accelerators["h100_sxm"]
    assert h100.memory_bytes == 80e9
    assert h100.memory_byte_per_s == 3.35e12
    assert h100.flop_per_s == {"bf16": 989e12, "fp8": 1979e12, "int8": 1979e12}
    assert h100.scale_up_byte_per_s == 450e9
    assert h100.scale_up_gpus == 8
    assert h100.nic_gbit_per_s == 400


def test_usable_memory_is_what_the_driver_reports() -> None:
    devices = load_catalog().accelerators
    assert devices["h100_sxm"].usable_memory_bytes == 81_559 * 2**20
    assert devices["l40s"].usable_memory_bytes == 46_068 * 2**20  # GDDR behind ECC: hardly above 48e9
    assert devices["mi300x"].usable_memory_bytes == devices["mi300x"].memory_bytes == 192e9


def test_memory_set_by_hand_replaces_the_drivers_figure() -> None:
    catalog = load_catalog()
    by_size = catalog.with_overrides({"h100_sxm": {"memory_gb": 96}}).accelerators["h100_sxm"]
    by_driver = catalog.with_overrides({"h100_sxm": {"driver_memory_mib": 80_000}}).accelerators["h100_sxm"]
    assert by_size.usable_memory_bytes == 96e9
    assert by_driver.usable_memory_bytes == 80_000 * 2**20


def test_spark_is_dense_and_slower_than_h20_at_fp8() -> None:
    devices = load_catalog().accelerators
    spark, h20 = devices["dgx_spark"], devices["h20_96"]
    assert spark.flop_per_s["fp4"] == 500e12
    assert spark.flop_per_s["fp8"] == 250e12
    assert h20.flop_per_s["fp8"] == 296e12
    assert "SPARSE" in spark.notes


def test_what_nobody_published_stays_empty() -> None:
    devices = load_catalog().accelerators
    assert devices["ascend_910b"].memory_byte_per_s is None
    assert devices["h20_96"].rent_usd_per_hour is None
    assert devices["h20_96"].purchase_usd == 12_000
    for card in ("rtx_pro_5000_48", "rtx_pro_5000_72"):
        assert devices[card].rent_usd_per_hour is None
        assert devices[card].purchase_usd is None


def test_unsupported_and_unpublished_formats_differ() -> None:
    devices = load_catalog().accelerators
    assert "fp8" not in devices["a100_80_sxm"].flop_per_s
    assert devices["m5_max"].flop_per_s["fp8"] is None
    assert devices["b300_sxm"].flop_per_s["int8"] == 153.5e12


def test_required_gives_the_number_or_says_what_to_set() -> None:
    devices = load_catalog().accelerators
    assert required(devices["h20_96"], "memory_bandwidth_gb_per_s") == 4000
    assert required(devices["ascend_910b"], "memory_bandwidth_gb_per_s") == Infeasible(
        "missing_figure",
        "no published figure for ascend_910b memory_bandwidth_gb_per_s; "
        "set overrides.ascend_910b.memory_bandwidth_gb_per_s yourself",
    )
    refused = required(devices["a100_80_sxm"], COMPUTE_FIELDS["fp8"])
    assert isinstance(refused, Infeasible)
    assert refused.limit == "format"
    with pytest.raises(ValueError, match="memory_gib is not a figure"):
        required(devices["h100_sxm"], "memory_gib")


def test_links_borrow_openly_and_tcp_is_capped() -> None:
    links = load_catalog().links
    for borrower, lender in (("roce_800", "roce_400"), ("ib_hdr", "ib_ndr")):
        assert links[borrower].effective_fraction == links[lender].effective_fraction
        assert links[borrower].figures["effective_fraction"].kind == "assumed"
    for link in ("eth_10", "eth_25", "tcp_10", "tcp_400"):
        assert links[link].effective_fraction == 0.9
        assert links[link].node_cap_byte_per_s == 40e9
        assert not links[link].rdma
    assert links["tcp_fallback"].node_cap_byte_per_s == 0.55e9
    assert links["roce_400"].node_cap_byte_per_s is None
    assert links["nvlink4"].byte_per_s == 450e9


@pytest.mark.parametrize(
    ("link", "nics", "kv_bytes", "measured_ms"),
    [
        ("roce_200", 8, 4.5 * 2**30, 31.65),
        ("roce_200", 8, 2048 * 147_456, 2.51),
        ("roce_400", 4, 32_768 * 385_024, 76.78),
        ("roce_400", 4, 2048 * 385_024, 6.43),
    ],
)
def test_share_and_setup_time_meet_the_measured_transfers(
    link: str, nics: int, kv_bytes: float, measured_ms: float
) -> None:
    wire = load_catalog().links[link]
    time_s = wire.latency_s + kv_bytes / (nics * wire.byte_per_s * wire.effective_fraction)
    assert time_s * 1e3 == pytest.approx(measured_ms, rel=0.15)


def test_overrides_change_figure_and_si_value_of_a_copy() -> None:
    catalog = load_catalog()
    changed = catalog.with_overrides(
        {
            "ascend_910b": {"memory_bandwidth_gb_per_s": 1600, "rent_usd_per_hour_typical": 0},
            "rtx_pro_5000_48": {"launch_price_usd": 4500, "tdp_w": 280, "tflops_bf16_dense": 147},
            "roce_400": {"effective_fraction": 0.5, "transfer_setup_ms": 2},
            "vllm": {"step_overhead_ms": 3},
        }
    )
    ascend = changed.accelerators["ascend_910b"]
    assert ascend.memory_byte_per_s == 1.6e12
    assert ascend.figures["memory_bandwidth_gb_per_s"].kind == "user"
    assert changed.accelerators["rtx_pro_5000_48"].purchase_usd == 4500
    assert changed.accelerators["rtx_pro_5000_48"].flop_per_s["bf16"] == 147e12
    assert changed.links["roce_400"].latency_s == pytest.approx(2.005e-3)
    assert changed.engines["vllm"].step_overhead_s == 3e-3
    assert catalog.accelerators["ascend_910b"].memory_byte_per_s is None
    assert catalog.with_overrides({}) is catalog


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"h100": {"tdp_w": 1}}, "h100_sxm"),
        ({"h100_sxm": {"bandwidth": 1}}, "memory_bandwidth_gb_per_s"),
        ({"a100_80_sxm": {"tflops_fp8_dense": 600}}, "not a figure of a100_80_sxm"),
        ({"h100_sxm": {"memory_gb": 0}}, "overrides.h100_sxm.memory_gb = 0 must be above 0"),
        ({"h100_sxm": {"memory_gb": -1}}, "must be above 0"),
        ({"h100_sxm": {"memory_gb": float("inf")}}, "finite"),
        ({"roce_400": {"effective_fraction": 1.5}}, "at most 1"),
        ({"h100_sxm": {"scale_up_domain_devices": 2.5}}, "whole number"),
        ({"vllm": {"step_overhead_ms": -1}}, "at least 0"),
    ],
)
def test_bad_overrides_are_one_clear_line(overrides: dict[str, dict[str, float]], says: str) -> None:
    with pytest.raises(ValueError, match=r"^overrides\.") as error:
        load_catalog().with_overrides(overrides)
    assert says in str(error.value)
    assert "\n" not in str(error.value)
