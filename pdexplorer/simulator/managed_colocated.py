"""A colocated fleet with prefix caches, a router that knows them, refusal and faults."""

from collections import deque
from collections.abc import Callable

from pdexplorer.simulator.backlog import Backlog, alone_s
from pdexplorer.simulator.caching import PoolCaches, wire
from pdexplorer.simulator.colocated import Colocated
from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.events import Call
from pdexplorer.simulator.faults_clock import Calendar
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.pool import Pool
from pdexplorer.simulator.records import REFUSED, UNFINISHED
from pdexplorer.simulator.router import Router
from pdexplorer.simulator.scaling import ScaledPool, Scaler, pressure_of
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.tiers import TierPort, instance_ports
from pdexplorer.workload.requests import Requests


class ManagedColocated(Colocated):
    """kv_token_bytes: what a cache below the accelerator keeps of a token."""

    router: Pool

    def __init__(
        self,
        spec: EngineSpec,
        requests: Requests,
        options: SimulationOptions,
        kv_token_bytes: float = 1.0,
        engine_class: Callable[..., Engine] = Engine,
    ) -> None:
        super().__init__(spec, requests, options, engine_class)
        env = self.env
        self.caches: PoolCaches | None = None
        if options.cache is not None and requests.block_hashes is not None:
            self.table.rows["cached_tokens"] = 0  # worked out here, not taken
            cache, block_bytes = options.cache, kv_token_bytes * requests.block_tokens
            store = None if cache.store is None else TierPort(cache.store, block_bytes)
            self.caches = PoolCaches(
                requests,
                cache,
                spec.block_tokens,
                self.engines,
                [instance_ports(cache.host, cache.ssd, store, block_bytes) for _ in self.engines],
                self.hits,
            )
            self.router.index = self.caches.index if options.routing == "prefix_aware" else None
        self.backlog = Backlog(spec.timer, spec.instances) if options.refuse_ttft_s is not None else None
        for number, engine in enumerate(self.engines):
            engine.eager = not options.faults and options.scaling is None  # one event may send it several
            if self.caches is not None:
                wire(engine, self.caches, number)
            if self.caches is not None or self.backlog is not None:
                engine.on_prefilled = self._prefilled
        self.stranded: deque[Sequence] = deque()
        self.fetching: dict[int, Sequence] = {}
        self.door_opens_s = 0.0
        self.calendar = Calendar(env, options.faults, self)
        if options.scaling is not None:
            first = options.scaling.colocated_instances
            usages = [engine.usage for engine in self.engines]
            pool = ScaledPool("colocated", self.router, usages, self._pressure, self._empty, first)
            self.scaler = Scaler(env, options.scaling, (pool,), self)

    def _pressure(self, instance: int) -> float:
        return pressure_of(self.engines[instance], self.spec, self.env.now)

    def _empty(self, instance: int) -> bool:
        return self.router.load[instance] == 0.0

    def _make_router(self, instances: int) -> Router:
        return Pool(self.options.routing, instances, None, self.options.prefix_load_ratio)

    # --- coming in ---

    def _arrive(self, sequence: Sequence) -> None:
        if not self._fits(sequence):
            self._leave(sequence, REFUSED, float("nan"))
            return
        if self.caches is not None:
            sequence.cached_tokens = sequence.past_tokens = 0
        self.inside[sequence.index] = sequence
        if self.env.now < self.door_opens_s:
            Call(self.env, self.door_opens_s, (self._routed,), payload=sequence)
        else:
            self._route(sequence)

    def _routed(self, event: Call) -> None:
        self._route(event.payload)

    def _route(self, sequence: Sequence) -> None:
        caches = self.caches
        instance = self.router.choose(() if caches is None else caches.blocks(sequence))
        if instance < 0:
            if self.calendar.returns() or self.options.scaling is not None:
                self.stranded.append(sequence)
            else:
                del self.inside[sequence.index]
                self._leave(sequence, UNFINISHED, float("nan"))
            return
        if caches is not None and sequence.prefill_end_s != sequence.prefill_end_s:
            sequence.cached_tokens = caches.cached_tokens(instance, sequence)  # until it is admitted
        if self.backlog is not None:
            limit_s = self.options.refuse_ttft_s
            own_s = self.backlog.own_s(sequence)
            late = limit_s is not None and self._wait_s(instance, sequence) + own_s > limit_s
            if late and not sequence.retries:
                del self.inside[sequence.index]
                self._leave(sequence, REFUSED, float("nan"))
                return
            self.backlog.add(instance, sequence, own_s)
        self.router.change(instance, 1.0)
        sequence.prefill_instance = sequence.decode_instance = instance
        if caches is not None:
            fetched_s = caches.fetch_s(
                instance, sequence, self.env.now, lambda new, past: alone_s(self.spec.timer, new, past)
            )
            if fetched_s is not None:
                self.fetching[sequence.index] = sequence
                Call(self.env, fetched_s, (self._fetched,), payload=(sequence, sequence.retries))
                return
        self.engines[instance].submit(sequence)

    def _wait_s(self, instance: int, sequence: Sequence) -> float:
        """Predicted time from its arrival until its own prefill, decodes along with it included."""
        assert self.backlog is not None
        new = sequence.input_tokens - sequence.cached_tokens
        wait_s = self.backlog.with_decodes_s(instance, self.engines[instance], self.spec.chunk_tokens, new)
        return self.env.now - sequence.arrival_s + wait_s

    def _fetched(self, event: Call) -> None:
        sequence, attempt = event.payload
        if sequence.retries == attempt:
            del self.fetching[sequence.index]
            self.engines[sequence.decode_instance].submit(sequence)

    # --- going on ---

    def _prefilled(self, sequence: Sequence) -> None:
        if self.caches is not None:
            self.caches.prefilled(sequence.decode_instance, sequence)
        if self.backlog is not None:
            self.backlog.done(sequence)

    def _finished(self, sequence: Sequence) -> None:
        if self.caches is not None:
            self.caches.release(sequence, generated=True)
        super()._finished(sequence)

    # --- faults ---

    def went_down(self, pool: str, instance: int) -> None:
        """Everything on it starts again elsewhere, with the tokens it got."""
        number = instance % self.spec.instances
        self.router.set_open(number, False)
        lost = self.engines[number].evacuate()
        lost += [each for each in self.fetching.values() if each.decode_instance == number]
        if self.caches is not None:
            self.caches.clear(number)
        for sequence in lost:
            self.fetching.pop(sequence.index, None)
            self.router.change(number, -1.0)
            if self.backlog is not None:
                self.backlog.done(sequence)
            sequence.retries += 1
            sequence.fetched_tokens = 0
            due_s = self.env.now + self.options.retry_after_s + self.hop_s
            Call(self.env, due_s, (self._routed,), payload=sequence)

    def came_up(self, pool: str, instance: int) -> None:
        """It takes requests again."""
        self.router.set_open(instance % self.spec.instances, True)
        waiting, self.stranded = self.stranded, deque()
        for sequence in waiting:
            self._route(sequence)

    def drained(self, pool: str, instance: int) -> None:
        """Nothing new is sent to it."""
        self.router.set_open(instance % self.spec.instances, False)

    def link_changed(self, rate_fraction: float) -> None:
        """A colocated fleet moves no KV."""

    def door_closed(self, until_s: float) -> None:
        """The router is away: arrivals wait."""
        self.door_opens_s = max(self.door_opens_s, until_s)
