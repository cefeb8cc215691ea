"""The time of one KV transfer between pools, and how much of it prefill hides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pdexplorer.catalog.hardware import Link
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.units import MS, gbit_per_s_to_byte_per_s

if TYPE_CHECKING:
    from pdexplorer.catalog.catalog import Catalog
    from pdexplorer.scenario.scenario import Scenario

GPUS_PER_NODE = 8
"""A link's node cap (TCP is bounded by host CPUs) counts once per this many GPUs."""


@dataclass(frozen=True, slots=True)
class TransferPath:
    """From one prefill instance to one decode instance. Rates are effective, of one instance with all its
    NICs.
    """

    link: Link
    latency_s: float
    egress_byte_per_s: float
    ingress_byte_per_s: float
    fabric_fraction: float
    layerwise_overlap: bool
    prefill_nics: int
    decode_nics: int


def resolve_path(
    catalog: Catalog, scenario: Scenario, prefill: Instance, decode: Instance
) -> TransferPath | Infeasible:
    """The path the scenario's network block describes. ValueError for an unknown link; Infeasible across KV
    formats.
    """
    network = scenario.network
    if network.link not in catalog.links:
        raise ValueError(f"network.link = {network.link!r} is not one of {', '.join(sorted(catalog.links))}")
    if prefill.kv_format != decode.kv_format:
        return Infeasible(
            "format",
            f"prefill keeps KV in {prefill.kv_format}, decode in {decode.kv_format}: layouts must match",
        )
    link = catalog.links[network.link]
    line = (
        link.byte_per_s
        if network.nic_gbit_per_s is None
        else gbit_per_s_to_byte_per_s(network.nic_gbit_per_s)
    )
    share = link.effective_fraction if network.effective_fraction is None else network.effective_fraction
    latency = link.latency_s if network.latency_ms is None else network.latency_ms * MS
    nics = [nics_of(instance, network.nics_per_instance) for instance in (prefill, decode)]
    egress, ingress = (
        instance_byte_per_s(link, line, share, count, instance.gpus)
        for count, instance in zip(nics, (prefill, decode), strict=True)
    )
    return TransferPath(
        link=link,
        latency_s=latency,
        egress_byte_per_s=egress,
        ingress_byte_per_s=ingress,
        fabric_fraction=1.0 / network.oversubscription_ratio,
        layerwise_overlap=network.layerwise_overlap,
        prefill_nics=nics[0],
        decode_nics=nics[1],
    )


def nics_of(instance: Instance, nics_per_instance: int | None) -> int:
    """NICs an instance drives: as given, else one per GPU, as datacentre nodes are built."""
    return instance.gpus if nics_per_instance is None else nics_per_instance


def instance_byte_per_s(link: Link, line_byte_per_s: float, share: float, nics: int, gpus: int) -> float:
    """Effective bandwidth of one instance: share × line × NICs, bounded by its nodes' CPUs (TCP)."""
    rate = share * line_byte_per_s * nics
    if link.node_cap_byte_per_s is None:
        return rate
    return min(rate, link.node_cap_byte_per_s * math.ceil(gpus / GPUS_PER_NODE))


def transfer_s(path: TransferPath, moved_bytes: Any) -> Any:
    """Seconds of one transfer with the path to itself: fixed latency + bytes over the slower end."""
    return path.latency_s + moved_bytes / min(path.egress_byte_per_s, path.ingress_byte_per_s)


def exposed_transfer_s(path: TransferPath, moved_bytes: Any, prefill_s: Any, layers: int) -> Any:
    """Seconds of a transfer left after its prefill has ended. Floats or arrays.

    Layer-wise streaming sends each layer while later ones compute: the last layer's share always remains, and
    whatever does not fit under the prefill of the layers before it.
    """
    wire = moved_bytes / min(path.egress_byte_per_s, path.ingress_byte_per_s)
    if not path.layerwise_overlap:
        return path.latency_s + wire
    return path.latency_s + np.maximum(wire / layers, wire - prefill_s * (layers - 1) / layers)
