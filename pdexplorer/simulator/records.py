"""What a replay leaves: one flat record a request, gaps, usage and series."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
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


class RecordTable:
    """Columns filled as requests leave, in compact arrays."""

    def __init__(self, requests: int) -> None:
        nan = array("d", [float("nan")])
        self.status = array("b", bytes(requests))
        self.arrival_s = nan * requests
        self.prefill_start_s = nan * requests
        self.prefill_end_s = nan * requests
        self.transfer_start_s = nan * requests
        self.transfer_end_s = nan * requests
        self.first_token_s = nan * requests
        self.finish_s = nan * requests
        self.prefill_instance = array("i", [-1]) * requests
        self.decode_instance = array("i", [-1]) * requests
        self.preemptions = array("i", bytes(4 * requests))
        self.retries = array("i", bytes(4 * requests))
        self.cached_tokens: array[int] | None = None  # where the replay works them out

    def write(self, sequence: Sequence, status: str, finish_s: float) -> None:
        """What became of a sequence; finish_s is NaN unless it completed."""
        row = sequence.index
        self.status[row] = _STATUS.index(status)
        self.arrival_s[row] = sequence.arrival_s
        self.prefill_start_s[row] = sequence.prefill_start_s
        self.prefill_end_s[row] = sequence.prefill_end_s
        self.transfer_start_s[row] = sequence.transfer_start_s
        self.transfer_end_s[row] = sequence.transfer_end_s
        self.first_token_s[row] = sequence.first_token_s
        self.finish_s[row] = finish_s
        self.prefill_instance[row] = sequence.prefill_instance
        self.decode_instance[row] = sequence.decode_instance
        self.preemptions[row] = sequence.preemptions
        self.retries[row] = sequence.retries
        if self.cached_tokens is not None:
            self.cached_tokens[row] = sequence.cached_tokens

    def columns(self, requests: Requests) -> dict[str, NDArray[Any]]:
        """The shell's columns, request_id counting from 0 in order of arrival."""
        times = {name: np.array(getattr(self, name)) for name in TIME_COLUMNS}
        counts = {name: np.array(getattr(self, name), dtype=np.int64) for name in COUNT_COLUMNS}
        cached = requests.cached_tokens.copy()
        if self.cached_tokens is not None:
            cached = np.array(self.cached_tokens, dtype=np.int64)
        return {
            "request_id": np.arange(len(requests)),
            "status": np.array(_STATUS)[np.array(self.status, dtype=np.int64)],
            **times,
            "input_tokens": requests.input_tokens.copy(),
            "cached_tokens": cached,
            "output_tokens": requests.output_tokens.copy(),
            **counts,
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
