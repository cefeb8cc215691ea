"""KV transfers against measured ones, and what layer-wise streaming hides."""

from typing import Any

import numpy as np
import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.memory import kv_moved_bytes
from pdexplorer.physics.transfer import TransferPath, exposed_transfer_s, resolve_path, transfer_s
from pdexplorer.scenario.scenario import Scenario

from .conftest import Make


@pytest.fixture
def path(make: Make) -> Any:
    """path(accelerator, model, tp, link, nics) of one instance to its like."""

    def build(accelerator: str, model: str, tp: int, link: str, nics: int | None = None) -> TransferPath:
        instance = make(accelerator, model, tp=tp)
        network: dict[str, Any] = {"link": link, "nics_per_instance": nics}
        scenario = Scenario.model_validate({"network": network})
        found = resolve_path(load_catalog(), scenario, instance, instance)
        assert not isinstance(found, Infeasible)
        return found

    return build


@pytest.mark.parametrize(
    ("accelerator", "model", "link", "nics", "milliseconds"),
    [
        ("h800_sxm", "qwen3_8b", "roce_200", 8, 31.65),
        ("h20_96", "qwen3_235b_a22b", "roce_400", 4, 76.78),
    ],
)
def test_measured_transfers(
    path: Any, accelerator: str, model: str, link: str, nics: int, milliseconds: float
) -> None:
    moved = kv_moved_bytes(load_catalog().models[model], "bf16", 32_768, 8)
    seconds = transfer_s(path(accelerator, model, 8, link, nics), moved)
    assert 1e3 * seconds == pytest.approx(milliseconds, rel=0.15)


@pytest.mark.parametrize(
    ("link", "nics", "gigabytes_per_s"),
    [("eth_10", 1, 1.125), ("tcp_100", 1, 11.25), ("tcp_400", 8, 40.0), ("tcp_fallback", 8, 0.55)],
)
def test_plain_tcp_is_bounded_by_its_node(path: Any, link: str, nics: int, gigabytes_per_s: float) -> None:
    found = path("h100_sxm", "llama_3_1_8b", 8, link, nics)
    assert found.egress_byte_per_s / 1e9 == pytest.approx(gigabytes_per_s)


def test_one_nic_per_gpu_unless_told(path: Any) -> None:
    assert path("h100_sxm", "llama_3_1_8b", 4, "roce_400").prefill_nics == 4
    assert path("h100_sxm", "llama_3_1_8b", 4, "roce_400", 1).prefill_nics == 1


def test_the_slower_end_decides(make: Make) -> None:
    prefill, decode = make("h100_sxm", "llama_3_1_8b", tp=1), make("h100_sxm", "llama_3_1_8b", tp=4)
    found = resolve_path(load_catalog(), Scenario(), prefill, decode)
    assert isinstance(found, TransferPath)
    assert found.ingress_byte_per_s == 4 * found.egress_byte_per_s
    assert transfer_s(found, found.egress_byte_per_s) == pytest.approx(1.0 + found.latency_s)


def test_layouts_must_match(make: Make) -> None:
    bf16, fp8 = (make("h100_sxm", "llama_3_1_8b", kv=fmt) for fmt in ("bf16", "fp8"))
    found = resolve_path(load_catalog(), Scenario(), bf16, fp8)
    assert isinstance(found, Infeasible)
    assert found.limit == "format"


def test_streaming_by_layer_hides_what_fits_under_prefill(path: Any) -> None:
    found = path("h100_sxm", "llama_3_1_8b", 1, "roce_400")
    wire = 0.1
    moved = wire * found.egress_byte_per_s
    exposed = exposed_transfer_s(found, moved, np.array([0.0, 0.05, 10.0]), 32) - found.latency_s
    assert exposed[0] == pytest.approx(wire)
    assert exposed[1] == pytest.approx(wire - 0.05 * 31 / 32)
    assert exposed[2] == pytest.approx(wire / 32)
