"""Accelerators and links as the rest of the program sees them: SI values, figures on request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pdexplorer.catalog.figure import Figure


@dataclass(frozen=True)
class Accelerator:
    """One device. SI units, dense FLOP/s; None where nobody published a figure.

    flop_per_s maps a compute format (bf16, fp8, fp4, int8) to its dense rate; a format the chip has no units
    for is absent, an unpublished one is None. usable_memory_bytes: what the driver reports (85.5e9 for the
    80 GB of an H100), the datasheet's where no driver figure is known. figures holds every number by its
    catalogue field, in that field's unit.
    """

    id: str
    name: str
    vendor: str
    family: str
    device_class: str
    memory_bytes: float | None
    usable_memory_bytes: float | None
    memory_byte_per_s: float | None
    flop_per_s: Mapping[str, float | None]
    scale_up_byte_per_s: float | None
    scale_up_gpus: int
    pcie_byte_per_s: float | None
    tdp_w: float | None
    rent_usd_per_hour: float | None
    purchase_usd: float | None
    nic_gbit_per_s: float | None = None
    notes: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """One kind of network between pools.

    byte_per_s is the line rate of one NIC, port or GPU link, one direction; node_cap_byte_per_s bounds what
    one node reaches however many NICs it has (TCP); effective_fraction is the share of line rate that large
    transfers reach; latency_s is the fixed time of one KV transfer, the engines' handshake included.
    """

    id: str
    name: str
    kind: str
    rdma: bool
    line_rate_gbit_per_s: float
    byte_per_s: float
    effective_fraction: float
    latency_s: float
    node_cap_byte_per_s: float | None = None
    notes: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
