"""Where TTFT went in a replay: parts of the requests near each percentile, from their own time stamps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.simulator.records import COMPLETED, SimulationResult
from pdexplorer.study.time_split import TTFT_PARTS, TimeRow

Array = NDArray[np.float64]

_BAND = 0.02


def replayed_ttft(
    result: SimulationResult, fleet: ColocatedFleet | DisaggregatedFleet, router_overhead_s: float
) -> tuple[TimeRow, ...]:
    """P50 and P95 of the counted requests that completed; empty where none did. Prompts that stayed on the
    decode side have no transfer. handshake: the path's fixed latency, as far as the transfer was exposed.
    router: every hop, with what the engine spends on a request.
    """
    records = result.records
    rows = np.nonzero((records["status"] == COMPLETED) & result.counted)[0]
    if not len(rows):
        return ()
    name = "colocated" if isinstance(fleet, ColocatedFleet) else "disaggregated"
    latency = 0.0 if isinstance(fleet, ColocatedFleet) else fleet.path.latency_s
    engine = fleet.instance.engine if isinstance(fleet, ColocatedFleet) else fleet.prefill.engine
    hop_s = router_overhead_s + engine.request_overhead_s
    parts = _parts({key: values[rows] for key, values in records.items()}, latency, hop_s)
    total = records["first_token_s"][rows] - records["arrival_s"][rows]
    order = np.argsort(total)
    below = (np.arange(len(order)) + 0.5) / len(order)
    found = []
    for percentile in (50, 95):
        near = order[np.abs(below - percentile / 100.0) <= max(_BAND, 0.5 / len(order))]
        means = {key: float(parts[key][near].mean()) for key in TTFT_PARTS}
        found.append(TimeRow(name, "ttft", percentile, float(total[near].mean()), means))
    return tuple(found)


def _parts(records: Mapping[str, NDArray[Any]], latency_s: float, hop_s: float) -> dict[str, Array]:
    """Each request's, adding up to its TTFT."""
    first, end = records["first_token_s"], records["prefill_end_s"]
    arrived = np.where(np.isfinite(records["transfer_end_s"]), records["transfer_end_s"], end)
    before = arrived <= first  # else the first token came from prefill, and the transfer after it
    second = np.where(before & np.isfinite(records["transfer_end_s"]), hop_s, 0.0)
    exposed = np.where(before, np.maximum(arrived - end, 0.0), 0.0)
    handshake = np.minimum(exposed, latency_s)
    waited = records["prefill_start_s"] - records["arrival_s"]
    router = np.minimum(np.full_like(waited, hop_s), np.maximum(waited, 0.0))
    return {
        "router": router + second,
        "queue": waited - router,
        "prefill": np.minimum(end, first) - records["prefill_start_s"],
        "handshake": handshake,
        "exposed_transfer": exposed - handshake,
        "first_decode": np.maximum(first - np.where(before, np.maximum(arrived, end), end) - second, 0.0),
    }
