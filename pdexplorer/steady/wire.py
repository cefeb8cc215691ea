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
    """Every prefill instance to every decode instance. The whole prompt's KV moves but for the share that the
    decode side is said to hold.
    """
    axes = {
        key: np.atleast_2d(np.asarray(value, float))
        for key, value in (axes or {}).items()
        if key in WIRE_AXES
    }
    shape = np.broadcast_shapes((1, 1), *(value.shape for value in axes.values()))
    keys = [key.split(".")[1] for key in axes]
    settings, at = np.zeros((1, 0)), np.zeros(1, dtype=np.intp)
    if axes:
        cells = np.stack([np.broadcast_to(value, shape).ravel() for value in axes.values()], axis=1)
        settings, at = np.unique(cells, axis=0, return_inverse=True)
        at = at.ravel()
    egress, ingress = np.empty((len(prefill), len(settings))), np.empty((len(decode), len(settings)))
    latency = np.empty(len(settings))
    fabric, overlap = 1.0, False
    for index, values in enumerate(settings):
        network = scenario.network.model_copy(update=dict(zip(keys, values.tolist(), strict=True)))
        varied = scenario.model_copy(update={"network": network})
        for row in range(max(len(prefill), len(decode))):
            ends = prefill[min(row, len(prefill) - 1)], decode[min(row, len(decode) - 1)]
            path = resolve_path(catalog, varied, *ends)
            if isinstance(path, Infeasible):
                return path
            egress[min(row, len(prefill) - 1), index] = path.egress_byte_per_s
            ingress[min(row, len(decode) - 1), index] = path.ingress_byte_per_s
            latency[index] = path.latency_s
            fabric, overlap = path.fabric_fraction, path.layerwise_overlap
    architecture, sent = decode[0].architecture, 1.0 - scenario.workload.decode_hit_fraction
    moved = [
        sent
        * np.asarray(
            kv_moved_bytes(architecture, decode[0].kv_format, load.input_tokens, one.parallelism.tp), float
        )
        for one in decode
    ]
    return Wire(
        np.stack(moved, axis=1)[:, None],
        egress[:, at].reshape(len(prefill), 1, *shape),
        ingress[:, at].reshape(1, len(decode), *shape),
        latency[at].reshape(shape),
        fabric,
        overlap,
        int(architecture.layers),
    )
