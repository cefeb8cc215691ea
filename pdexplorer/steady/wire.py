"""The network block as arrays: what moves, and how fast each pair of instances moves it."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.memory import kv_moved_bytes
from pdexplorer.physics.transfer import resolve_path
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.load import Load
from pdexplorer.steady.split_designs import Wire

Array = NDArray[np.float64]

WIRE_AXES = ("network.nic_gbit_per_s", "network.latency_ms", "network.effective_fraction")
"""Scenario keys of the network that may vary over the cells of a map in one vectorised call."""


def wire_of(
    catalog: Catalog,
    scenario: Scenario,
    prefill: Sequence[Instance],
    decode: Sequence[Instance],
    load: Load,
    axes: Mapping[str, Array] | None = None,
) -> Wire | Infeasible:
    """Every prefill instance to every decode instance. The whole prompt's KV moves: the decode side holds
    none of it.
    """
    axes = {
        key: np.atleast_2d(np.asarray(value, float))
        for key, value in (axes or {}).items()
        if key in WIRE_AXES
    }
    shape = np.broadcast_shapes((1, 1), *(value.shape for value in axes.values()))
    egress = np.empty((len(prefill), 1, *shape))
    ingress = np.empty((1, len(decode), *shape))
    latency = np.empty(shape)
    flat = {key.split(".")[1]: np.broadcast_to(value, shape) for key, value in axes.items()}
    seen: dict[tuple[float, ...], tuple[list[float], list[float], float]] = {}
    fabric, overlap = 1.0, False
    for cell in np.ndindex(*shape):
        key = tuple(float(value[cell]) for value in flat.values())
        if key not in seen:
            network = scenario.network.model_copy(update=dict(zip(flat, key, strict=True)))
            varied = scenario.model_copy(update={"network": network})
            out, into = [], []
            for index in range(max(len(prefill), len(decode))):
                ends = prefill[min(index, len(prefill) - 1)], decode[min(index, len(decode) - 1)]
                path = resolve_path(catalog, varied, *ends)
                if isinstance(path, Infeasible):
                    return path
                out.append(path.egress_byte_per_s)
                into.append(path.ingress_byte_per_s)
                fabric, overlap = path.fabric_fraction, path.layerwise_overlap
                delay = path.latency_s
            seen[key] = out, into, delay
        out, into, delay = seen[key]
        egress[(slice(None), 0, *cell)] = out[: len(prefill)]
        ingress[(0, slice(None), *cell)] = into[: len(decode)]
        latency[cell] = delay
    architecture = decode[0].architecture
    moved = [
        np.asarray(
            kv_moved_bytes(architecture, decode[0].kv_format, load.input_tokens, one.parallelism.tp), float
        )
        for one in decode
    ]
    return Wire(
        np.stack(moved, axis=1)[:, None], egress, ingress, latency, fabric, overlap, int(architecture.layers)
    )
