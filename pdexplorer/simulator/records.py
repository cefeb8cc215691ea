"""What a replay leaves: one flat record a request, gaps, usage and series."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.simulator.timeline import Timeline
from pdexplorer.simulator.usage import PoolUsage
from pdexplorer.workload.requests import Requests

COMPLETED, REFUSED, UNFINISHED = "completed", "refused", "unfinished"
_STATUS = (UNFINISHED, COMPLETED, REFUSED)


TIME_COLUMNS = (
    "arrival_s",
    "prefill_start_s",
    "prefill_end_s",
    "transfer_start_s",
    "transfer_end_s",
    "first_token_s",
    "finish_s",
)
COUNT_COLUMNS = ("prefill_instance", "decode_instance", "preemptions", "retries")


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """records: the per-request columns, by name, in order of request_id; NaN where a time does not apply,
    −1 where an instance does not. counted: which requests arrived after the warm-up.

    itl_bin_s, itl_gaps: lower edges of 0.1 ms bins and gaps between tokens in each; itl_sum_s their exact
    sum. pools: usage of `colocated`, or of `prefill` and `decode`. link: busy seconds of `egress` and
    `ingress` by instance and of the `fabric`. kv_transfer_s: each transfer from its start to its end;
    kv_exposed_s what of it came after prefill. series: `time_s` and, sampled then, `waiting`, `batch`,
    `kv_fraction`, `in_transfer`, `link_fraction` (mean use of the egress ports since the last sample).
    timelines: of the requests asked for. tier_hits: blocks fetched from `host`, `ssd` and `store`.
    """

    records: Mapping[str, NDArray[Any]]
    counted: NDArray[np.bool_]
    itl_bin_s: NDArray[np.float64]
    itl_gaps: NDArray[np.int64]
    itl_sum_s: float
    pools: Mapping[str, PoolUsage]
    link: Mapping[str, NDArray[np.float64]]
    kv_transfer_s: NDArray[np.float64]
    kv_exposed_s: NDArray[np.float64]
    bytes_moved: float
    series: Mapping[str, NDArray[np.float64]]
    simulated_s: float
    timelines: Mapping[int, Timeline] = field(default_factory=dict)
    tier_hits: Mapping[str, int] = field(default_factory=dict)

    @property
    def remote_fraction(self) -> float:
        """Share of the completed requests that were prefilled in a prefill pool; NaN without one."""
        done = self.records["status"] == COMPLETED
        if "prefill" not in self.pools or not done.any():
            return float("nan")
        return float((self.records["prefill_instance"][done] >= 0).mean())

    @property
    def cached_fraction(self) -> float:
        """Share of the completed requests' prompt tokens that no prefill computed."""
        done = self.records["status"] == COMPLETED
        return float(self.records["cached_tokens"][done].sum() / self.records["input_tokens"][done].sum())

    @property
    def paid_instance_s(self) -> float:
        """Time of all instances, less what scaled pools had off."""
        return sum(
            usage.instances * self.simulated_s - float(usage.off_s.sum()) for usage in self.pools.values()
        )

    @property
    def requests(self) -> int:
        """All requests given, whatever became of them."""
        return len(self.counted)

    @property
    def completed(self) -> int:
        """Requests that got every token."""
        return int((self.records["status"] == COMPLETED).sum())


_ROW = Struct("=b7d4iq")
_COLUMNS = np.dtype(
    [
        ("status", "i1"),
        *((name, "f8") for name in TIME_COLUMNS),
        *((name, "i4") for name in COUNT_COLUMNS),
        ("cached_tokens", "i8"),
    ]
)


class RecordTable:
    """One packed row a request, filled as it leaves."""

    def __init__(self, requests: Requests) -> None:
        self.rows = np.zeros(len(requests), _COLUMNS)
        for name in TIME_COLUMNS:
            self.rows[name] = np.nan
        self.rows["prefill_instance"] = self.rows["decode_instance"] = -1
        self.rows["cached_tokens"] = requests.cached_tokens
        self._bytes = self.rows.view(np.uint8).data if len(requests) else memoryview(b"")

    def write(self, sequence: Sequence, status: str, finish_s: float) -> None:
        """What became of a sequence; finish_s is NaN unless it completed."""
        _ROW.pack_into(
            self._bytes,
            sequence.index * _ROW.size,
            _STATUS.index(status),
            sequence.arrival_s,
            sequence.prefill_start_s,
            sequence.prefill_end_s,
            sequence.transfer_start_s,
            sequence.transfer_end_s,
            sequence.first_token_s,
            finish_s,
            sequence.prefill_instance,
            sequence.decode_instance,
            sequence.preemptions,
            sequence.retries,
            sequence.cached_tokens,
        )

    def columns(self, requests: Requests) -> dict[str, NDArray[Any]]:
        """The shell's columns, request_id counting from 0 in order of arrival."""
        rows = self.rows
        return {
            "request_id": np.arange(len(requests)),
            "status": np.array(_STATUS)[rows["status"]],
            **{name: np.ascontiguousarray(rows[name]) for name in TIME_COLUMNS},
            "input_tokens": requests.input_tokens.copy(),
            "cached_tokens": np.ascontiguousarray(rows["cached_tokens"]),
            "output_tokens": requests.output_tokens.copy(),
            **{name: rows[name].astype(np.int64) for name in COUNT_COLUMNS},
        }


def simulation_result(
    *,
    table: RecordTable,
    requests: Requests,
    gaps: GapHistogram,
    pools: Mapping[str, PoolUsage],
    link: Mapping[str, NDArray[np.float64]],
    bytes_moved: float,
    series: Mapping[str, NDArray[np.float64]],
    simulated_s: float,
    warmup_s: float,
    timelines: Mapping[int, Timeline],
    tier_hits: Mapping[str, int],
) -> SimulationResult:
    """Arrays and what follows from them."""
    records = table.columns(requests)
    edges, counts = gaps.arrays()
    moved = ~np.isnan(records["transfer_end_s"])
    start_s = records["transfer_start_s"][moved]
    end_s = records["transfer_end_s"][moved]
    return SimulationResult(
        records=records,
        counted=~(records["arrival_s"] < warmup_s),
        itl_bin_s=edges,
        itl_gaps=counts,
        itl_sum_s=gaps.sum_s,
        pools=pools,
        link=link,
        kv_transfer_s=end_s - start_s,
        kv_exposed_s=end_s - np.maximum(start_s, records["prefill_end_s"][moved]),
        bytes_moved=bytes_moved,
        series=series,
        simulated_s=simulated_s,
        timelines=timelines,
        tier_hits=dict(tier_hits),
    )
