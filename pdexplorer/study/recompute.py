"""Transfer against recompute: how fast a link must be before fetching cached KV beats prefilling it again."""

from dataclasses import dataclass

import numpy as np

from pdexplorer.physics.fleet import DisaggregatedFleet
from pdexplorer.physics.memory import kv_moved_bytes
from pdexplorer.physics.step import step_time_s
from pdexplorer.physics.transfer import transfer_s
from pdexplorer.units import gbit_per_s_to_byte_per_s

_TOKENS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)


@dataclass(frozen=True, slots=True)
class RecomputeRow:
    """A cached prefix of that many tokens. break_even_gbit_per_s: of one transfer's effective rate; below it
    prefilling again is faster. None where the fixed latency alone takes longer than the prefill.
    """

    tokens: int
    kv_bytes: float
    prefill_s: float
    transfer_s: float
    break_even_gbit_per_s: float | None
    fetch_is_faster: bool


def recompute_rows(fleet: DisaggregatedFleet, tokens: tuple[int, ...] = _TOKENS) -> tuple[RecomputeRow, ...]:
    """Over the path of the fleet, a prefill instance with nothing else to do."""
    rows = []
    step = fleet.prefill_batch_tokens
    for count in tokens:
        size = float(
            np.asarray(
                kv_moved_bytes(
                    fleet.prefill.architecture,
                    fleet.prefill.kv_format,
                    float(count),
                    fleet.decode.parallelism.tp,
                )
            ).item()
        )
        past = np.arange(0, count, step, dtype=float)
        new = np.minimum(step, count - past)
        prefill = float(np.sum(step_time_s(fleet.prefill, prefill_tokens=new, prefill_past_tokens=past)))
        room = prefill - fleet.path.latency_s
        needed = size / room / gbit_per_s_to_byte_per_s(1.0) if room > 0.0 else None
        moved = float(transfer_s(fleet.path, size))
        rows.append(RecomputeRow(count, size, prefill, moved, needed, moved < prefill))
    return tuple(rows)
