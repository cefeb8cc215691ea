"""A colocated fleet replayed: router in front of equal engines."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import simpy

from pdexplorer.simulator.arrivals import Source
from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.events import Call, run_calls
from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.records import (
    COMPLETED,
    REFUSED,
    UNFINISHED,
    RecordTable,
    SimulationResult,
    simulation_result,
)
from pdexplorer.simulator.router import Router, router_of
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.simulator.series import Sampler, worth_sampling
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.timeline import Timeline, timeline_of
from pdexplorer.simulator.usage import pool_usage
from pdexplorer.workload.requests import Requests


class Colocated:
    """The fleet's state. engine_class: for tests that compare engines."""

    def __init__(
        self,
        spec: EngineSpec,
        requests: Requests,
        options: SimulationOptions,
        engine_class: Callable[..., Engine] = Engine,
    ) -> None:
        self.env = env = simpy.Environment()
        self.spec = spec
        self.requests = requests
        self.options = options
        self.gaps = GapHistogram()
        self.hits: Counter[str] = Counter()  # blocks fetched, by tier
        self.table = RecordTable(len(requests))
        self.left = 0
        self.done = env.event()
        self.inside: dict[int, Sequence] = {}
        self.router = self._make_router(spec.instances)
        self.engines = [engine_class(env, spec, self.gaps, self._finished) for _ in range(spec.instances)]
        self.timelines: dict[int, Timeline] = {}
        self.source = Source(
            env,
            requests,
            self._arrive,
            options.router_overhead_s,
            options.closed_loop_concurrency,
            options.trace_requests,
        )
        points = worth_sampling(options.samples, len(requests), spec.instances)
        self.sampler = Sampler(env, self._sample, points, self.source.last_arrival_s)

    def _make_router(self, instances: int) -> Router:
        return router_of(self.options.routing, instances)

    def run(self) -> SimulationResult:
        """Replay until every request has left or the horizon is reached."""
        env = self.env
        if self.options.horizon_s is not None:
            Call(env, self.options.horizon_s, (lambda event: self._stop(),))
        if len(self.requests):
            run_calls(env, self.done)
        now_s = float(env.now)
        for engine in self.engines:
            engine.close(now_s)
        for sequence in self.inside.values():
            self.table.write(sequence, UNFINISHED, float("nan"))
        return simulation_result(
            table=self.table,
            requests=self.requests,
            gaps=self.gaps,
            pools={"colocated": pool_usage([engine.usage for engine in self.engines])},
            link={},
            bytes_moved=0.0,
            series=self.sampler.arrays(),
            simulated_s=now_s,
            warmup_s=self.options.warmup_s,
            timelines=self.timelines,
            tier_hits=self.hits,
        )

    def _arrive(self, sequence: Sequence) -> None:
        if not self._fits(sequence):
            self._leave(sequence, REFUSED, float("nan"))
            return
        instance = self.router.choose()
        self.router.change(instance, 1.0)
        sequence.prefill_instance = sequence.decode_instance = instance
        self.inside[sequence.index] = sequence
        self.engines[instance].submit(sequence)

    def _fits(self, sequence: Sequence) -> bool:
        """Whether its KV can ever fit; the last token generated is never read, its KV is not needed."""
        spec = self.spec
        return sequence.input_tokens + sequence.output_tokens - 1 <= spec.kv_blocks * spec.block_tokens

    def _finished(self, sequence: Sequence) -> None:
        self.router.change(sequence.decode_instance, -1.0)
        del self.inside[sequence.index]
        self._leave(sequence, COMPLETED, self.env.now)

    def _leave(self, sequence: Sequence, status: str, finish_s: float) -> None:
        self.table.write(sequence, status, finish_s)
        if sequence.token_s is not None:
            self.timelines[sequence.index] = timeline_of(sequence)
        self.left += 1
        if self.left == len(self.requests):
            self._stop()
        else:
            self.source.left()

    def _stop(self) -> None:
        if not self.done.triggered:
            self.done.succeed()

    def _sample(self) -> tuple[float, ...]:
        now_s, engines = self.env.now, self.engines
        held = sum(engine.kv_blocks_held(now_s) for engine in engines)
        waiting = sum(len(engine.waiting) for engine in engines)
        batch = sum(engine.decodes.size for engine in engines)
        return waiting, batch, held / max(1, self.spec.kv_blocks * len(engines)), 0.0, np.nan
