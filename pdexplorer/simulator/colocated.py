"""A colocated fleet replayed: router in front of equal engines."""

from collections.abc import Callable, Mapping

import numpy as np

from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.records import REFUSED
from pdexplorer.simulator.replay import Replay
from pdexplorer.simulator.router import Router, router_of
from pdexplorer.simulator.sequence import NAN, Sequence
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.usage import PoolUsage, pool_usage
from pdexplorer.workload.requests import Requests


class Colocated(Replay):
    """The fleet's state. engine_class: for tests that compare engines."""

    def __init__(
        self,
        spec: EngineSpec,
        requests: Requests,
        options: SimulationOptions,
        engine_class: Callable[..., Engine] = Engine,
    ) -> None:
        super().__init__(requests, options, spec.request_overhead_s)
        self.spec = spec
        self.kv_tokens = spec.kv_blocks * spec.block_tokens
        self.router = self._make_router(spec.instances)
        self.engines = [
            engine_class(self.env, spec, self.gaps, self._finished) for _ in range(spec.instances)
        ]
        self._open(spec.instances)

    def _make_router(self, instances: int) -> Router:
        return router_of(self.options.routing, instances)

    def _arrive(self, sequence: Sequence) -> None:
        if not self._fits(sequence):
            self._leave(sequence, REFUSED, NAN)
            return
        instance = self.router.choose()
        self.router.change(instance, 1.0)
        sequence.prefill_instance = sequence.decode_instance = instance
        self.inside[sequence.index] = sequence
        self.engines[instance].submit(sequence)

    def _fits(self, sequence: Sequence) -> bool:
        """Whether its KV can ever fit; the last token generated is never read, its KV is not needed."""
        return sequence.input_tokens + sequence.output_tokens - 1 <= self.kv_tokens

    def _finished(self, sequence: Sequence) -> None:
        self.router.change(sequence.decode_instance, -1.0)
        self._completed(sequence)

    def _close(self, now_s: float) -> None:
        for engine in self.engines:
            engine.close(now_s)

    def _pools(self) -> Mapping[str, PoolUsage]:
        return {"colocated": pool_usage([engine.usage for engine in self.engines])}

    def _sample(self) -> tuple[float, ...]:
        now_s, engines = self.env.now, self.engines
        held = sum(engine.kv_blocks_held(now_s) for engine in engines)
        waiting = sum(len(engine.waiting) for engine in engines)
        batch = sum(engine.decodes.size for engine in engines)
        return waiting, batch, held / max(1, self.spec.kv_blocks * len(engines)), 0.0, np.nan
