"""What every fleet's replay has: requests that come in and leave, their records, the end."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping

import numpy as np
import simpy
from numpy.typing import NDArray

from pdexplorer.simulator.arrivals import Source
from pdexplorer.simulator.events import Call, run_calls
from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.records import (
    COMPLETED,
    UNFINISHED,
    RecordTable,
    SimulationResult,
    simulation_result,
)
from pdexplorer.simulator.sequence import NAN, Sequence
from pdexplorer.simulator.series import Sampler, worth_sampling
from pdexplorer.simulator.timeline import Timeline, timeline_of
from pdexplorer.simulator.usage import PoolUsage
from pdexplorer.workload.requests import Requests


class Replay(ABC):
    """Shared state. A fleet makes its instances, then calls _open; it puts who comes in into `inside` and
    hands who is through to _completed or _leave. hop_s: from the router until a request is in an engine,
    which spends request_overhead_s of it.
    """

    def __init__(self, requests: Requests, options: SimulationOptions, request_overhead_s: float) -> None:
        self.env = env = simpy.Environment()
        self.requests = requests
        self.options = options
        self.hop_s = options.router_overhead_s + request_overhead_s
        self.gaps = GapHistogram()
        self.hits: Counter[str] = Counter()  # blocks fetched, by tier
        self.table = RecordTable(requests)
        self.left = 0
        self.done = env.event()
        self.inside: dict[int, Sequence] = {}
        self.timelines: dict[int, Timeline] = {}

    def _open(self, instances: int) -> None:
        """Let requests come in."""
        options = self.options
        self.source = Source(
            self.env,
            self.requests,
            self._arrive,
            self.hop_s,
            options.closed_loop_concurrency,
            options.trace_requests,
        )
        points = worth_sampling(options.samples, len(self.requests), instances)
        look = self._sample if options.report is None else self._reported
        self.sampler = Sampler(self.env, look, points, self.source.last_arrival_s)

    def run(self) -> SimulationResult:
        """Replay until every request has left or the horizon is reached."""
        env = self.env
        if self.options.horizon_s is not None:
            Call(env, self.options.horizon_s, (lambda event: self._stop(),))
        if len(self.requests):
            run_calls(env, self.done)
        now_s = float(env.now)
        self._close(now_s)
        for sequence in self.inside.values():
            if sequence.transfer_end_s > now_s:
                sequence.transfer_end_s = NAN
            if sequence.transfer_start_s > now_s:
                sequence.transfer_start_s = NAN
            self.table.write(sequence, UNFINISHED, NAN)
        return simulation_result(
            table=self.table,
            requests=self.requests,
            gaps=self.gaps,
            pools=self._pools(),
            link=self._link_busy_s(),
            bytes_moved=self._bytes_moved(),
            series=self.sampler.arrays(),
            simulated_s=now_s,
            warmup_s=self.options.warmup_s,
            timelines=self.timelines,
            tier_hits=self.hits,
        )

    @abstractmethod
    def _arrive(self, sequence: Sequence) -> None:
        """A request is at the door."""

    @abstractmethod
    def _sample(self) -> tuple[float, ...]:
        """Values of the series now."""

    def _reported(self) -> tuple[float, ...]:
        if self.options.report is not None:
            self.options.report(self.left / len(self.requests))
        return self._sample()

    @abstractmethod
    def _close(self, now_s: float) -> None:
        """End of the replay: instances account for what runs."""

    @abstractmethod
    def _pools(self) -> Mapping[str, PoolUsage]:
        """Usage by pool, after _close."""

    def _link_busy_s(self) -> Mapping[str, NDArray[np.float64]]:
        return {}

    def _bytes_moved(self) -> float:
        return 0.0

    def _completed(self, sequence: Sequence) -> None:
        del self.inside[sequence.index]
        self._leave(sequence, COMPLETED, self.env._now)

    def _leave(self, sequence: Sequence, status: str, finish_s: float) -> None:
        self.table.write(sequence, status, finish_s)
        if sequence.token_s is not None:
            self.timelines[sequence.index] = timeline_of(sequence)
        self.left += 1
        if self.left == len(self.table.rows):
            self._stop()
        elif self.source.closed:
            self.source.left()

    def _stop(self) -> None:
        if not self.done.triggered:
            self.done.succeed()
