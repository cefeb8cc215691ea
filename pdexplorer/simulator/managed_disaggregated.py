"""A disaggregated fleet with prefix caches, conditional routing and refusal.

A decode instance is chosen as a request arrives where its prompt may stay there; else, as in the plain
fleet, when its KV can first move. A prompt that stays local prefills on the decode instance in mixed steps;
its record has no prefill instance.
"""

from collections import deque
from collections.abc import Callable

from pdexplorer.simulator.backlog import Backlog, alone_s
from pdexplorer.simulator.caching import PoolCaches, wire, wire_prefill
from pdexplorer.simulator.disaggregated import Disaggregated
from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.events import Call
from pdexplorer.simulator.link import Flow
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.pool import Pool
from pdexplorer.simulator.records import REFUSED
from pdexplorer.simulator.router import Router
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.simulator.tiers import TierPort, instance_ports
from pdexplorer.workload.requests import Requests


class ManagedDisaggregated(Disaggregated):
    """kv_token_bytes: what a cache below the accelerator keeps of a token."""

    prefill_router: Pool
    decode_router: Pool

    def __init__(
        self,
        prefill: PrefillSpec,
        decode: EngineSpec,
        link: LinkSpec,
        first_token_from_prefill: bool,
        kv_bytes: list[float],
        requests: Requests,
        options: SimulationOptions,
        kv_token_bytes: float = 1.0,
        engine_class: Callable[..., Engine] = Engine,
    ) -> None:
        super().__init__(
            prefill, decode, link, first_token_from_prefill, kv_bytes, requests, options, engine_class
        )
        self.whole_bytes = kv_bytes
        self.kv_bytes = list(kv_bytes)
        self.transit: dict[int, Sequence] = {}  # reserved on the decode side, not there yet
        self.fetching: dict[int, Sequence] = {}
        self.stranded: deque[Sequence] = deque()  # no instance to go to
        self.pending.append(deque())  # prefilled, and no decode instance to go to: index −1
        self.shared = self.prefills[0].queue  # of the pool, where it has one queue
        self.door_opens_s = 0.0
        self.rate_fraction = 1.0
        self.prefill_caches: PoolCaches | None = None
        self.decode_caches: PoolCaches | None = None
        if options.cache is not None and requests.block_hashes is not None:
            self.table.rows["cached_tokens"] = 0  # worked out here, not taken
            cache, block_bytes = options.cache, kv_token_bytes * requests.block_tokens
            store = None if cache.store is None else TierPort(cache.store, block_bytes)
            ports = [instance_ports(cache.host, cache.ssd, store, block_bytes) for _ in self.prefills]
            self.prefill_caches = PoolCaches(
                requests, cache, prefill.block_tokens, self.prefills, ports, self.hits
            )
            ports = [instance_ports(None, None, store, block_bytes) for _ in self.engines]
            self.decode_caches = PoolCaches(
                requests, cache, decode.block_tokens, self.engines, ports, self.hits
            )
            for instance in self.prefills:
                wire_prefill(instance, self.prefill_caches)
            if options.routing == "prefix_aware":
                self.prefill_router.index = self.prefill_caches.index
                self.decode_router.index = self.decode_caches.index
        waits = options.refuse_ttft_s is not None or options.overflow_wait_s is not None
        self.prefill_backlog = Backlog(prefill.timer, prefill.instances) if waits else None
        self.decode_backlog = Backlog(decode.timer, decode.instances) if waits else None
        for number, engine in enumerate(self.engines):
            if self.decode_caches is not None:
                wire(engine, self.decode_caches, number)
            if self.decode_caches is not None or waits:
                engine.on_prefilled = self._prefilled_locally

    def _make_router(self, instances: int) -> Router:
        return Pool(self.options.routing, instances, None, self.options.prefix_load_ratio)

    # --- coming in ---

    def _arrive(self, sequence: Sequence) -> None:
        if not self._fits(sequence):
            self._leave(sequence, REFUSED, float("nan"))
            return
        if self.prefill_caches is not None:
            sequence.cached_tokens = sequence.past_tokens = 0
        self.inside[sequence.index] = sequence
        if self.env.now < self.door_opens_s:
            Call(self.env, self.door_opens_s, (self._routed,), payload=sequence)
        else:
            self._route(sequence)

    def _routed(self, event: Call) -> None:
        self._route(event.payload)

    def _route(self, sequence: Sequence) -> None:
        if self.options.may_stay_local or not self.prefill_router.open:
            local = sequence.decode_instance
            if local < 0:
                local = self.decode_router.choose(self._blocks(sequence))
            if local >= 0 and self._stays(local, sequence):
                self._send_local(local, sequence)
                return
            if local >= 0 and self.prefill_router.open and sequence.decode_instance < 0:
                self._take_decode(local, sequence)  # as deployed: decode is chosen before the split
        self._send_remote(sequence)

    def _blocks(self, sequence: Sequence) -> tuple[int, ...]:
        return () if self.prefill_caches is None else tuple(self.prefill_caches.blocks(sequence))

    def _stays(self, local: int, sequence: Sequence) -> bool:
        """Whether this prompt is prefilled on that decode instance."""
        options, caches = self.options, self.decode_caches
        if not self.prefill_router.open:
            return True
        if options.split_rule is not None:
            cached = sequence.cached_tokens if caches is None else caches.cached_tokens(local, sequence)
            if not options.split_rule.remote(sequence.input_tokens, sequence.input_tokens - cached):
                return True
        backlog = self.prefill_backlog
        if backlog is not None and options.overflow_wait_s is not None:
            wait_s = sum(backlog.work_s) / len(self.prefills) if self.central else min(backlog.work_s)
            if wait_s > options.overflow_wait_s:
                return True
        limit_s = options.fallback_transfer_s
        return limit_s is not None and self._transfer_s(sequence) > limit_s

    def _transfer_s(self, sequence: Sequence) -> float:
        """Its transfer with the link to itself, at the present rates."""
        link = self.link
        rate = min(link.egress_byte_per_s, link.ingress_byte_per_s)
        return self.latency_s + self.kv_bytes[sequence.index] / rate

    def _refused(self, sequence: Sequence, ttft_s: float) -> bool:
        limit_s = self.options.refuse_ttft_s
        if limit_s is None or sequence.retries or self.env.now - sequence.arrival_s + ttft_s <= limit_s:
            return False
        if sequence.decode_instance >= 0:
            self.decode_router.change(sequence.decode_instance, -1.0)
        del self.inside[sequence.index]
        sequence.decode_instance = -1
        self._leave(sequence, REFUSED, float("nan"))
        return True

    def _send_local(self, local: int, sequence: Sequence) -> None:
        caches, backlog = self.decode_caches, self.decode_backlog
        if caches is not None:
            sequence.cached_tokens = caches.cached_tokens(local, sequence)
        if backlog is not None:
            new = sequence.input_tokens - sequence.cached_tokens
            wait_s = backlog.with_decodes_s(local, self.engines[local], self.decode.chunk_tokens, new)
            own_s = backlog.own_s(sequence)
            if self._refused(sequence, wait_s + own_s):
                return
            backlog.add(local, sequence, own_s)
        if sequence.decode_instance < 0:
            self._take_decode(local, sequence)
        sequence.prefill_instance = -1
        if caches is None or not self._fetches(caches, local, sequence):
            self.engines[local].submit(sequence)

    def _send_remote(self, sequence: Sequence) -> None:
        caches = self.prefill_caches
        blocks = () if caches is None else caches.blocks(sequence)
        index = self.prefill_router.choose(blocks, sequence.input_tokens)
        if index < 0:
            self._strand(sequence)
            return
        if caches is not None:
            sequence.cached_tokens = caches.cached_tokens(index, sequence)
        backlog = self.prefill_backlog
        if backlog is not None:
            own_s = backlog.own_s(sequence)
            from_prefill = self.first_token_from_prefill
            transfer_s = 0.0 if from_prefill else self._transfer_s(sequence) + self.decode_hop_s
            wait_s = sum(backlog.work_s) / len(self.prefills) if self.central else backlog.work_s[index]
            if self._refused(sequence, wait_s + own_s + transfer_s):
                return
            backlog.add(index, sequence, own_s)
        sequence.load = sequence.input_tokens - sequence.cached_tokens
        sequence.prefill_instance = index
        if not self.central:
            self.prefill_router.change(index, sequence.load)
        if caches is None or not self._fetches(caches, index, sequence):
            self._queue(sequence)

    def _strand(self, sequence: Sequence) -> None:
        """No instance to go to now."""
        self.stranded.append(sequence)

    def _queue(self, sequence: Sequence) -> None:
        if self.central:
            self.shared.append(sequence)
            for instance in self.prefills:
                idle = instance.step_event is None and instance.queue is self.shared and not instance.down
                if idle and instance.fits(sequence):
                    instance.attend()
                    break
            return
        instance = self.prefills[sequence.prefill_instance]
        instance.queue.append(sequence)
        instance.attend()

    def _fetches(self, caches: PoolCaches, instance: int, sequence: Sequence) -> bool:
        """Whether it first fetches KV from slower caches."""
        timer = self.prefill.timer if caches is self.prefill_caches else self.decode.timer
        fetched_s = caches.fetch_s(
            instance, sequence, self.env.now, lambda new, past: alone_s(timer, new, past)
        )
        if fetched_s is None:
            return False
        self.fetching[sequence.index] = sequence
        Call(self.env, fetched_s, (self._fetched,), payload=(sequence, sequence.retries))
        return True

    def _fetched(self, event: Call) -> None:
        sequence, attempt = event.payload
        if sequence.retries != attempt:
            return
        del self.fetching[sequence.index]
        if sequence.prefill_instance < 0:
            self.engines[sequence.decode_instance].submit(sequence)
        else:
            self._queue(sequence)

    # --- going on ---

    def _take_decode(self, index: int, sequence: Sequence) -> None:
        self.decode_router.change(index, 1.0)
        sequence.decode_instance = index
        caches = self.decode_caches
        if caches is not None:
            # Blocks the decode side holds are not sent.
            held = caches.cached_tokens(index, sequence) / sequence.input_tokens
            self.kv_bytes[sequence.index] = self.whole_bytes[sequence.index] * (1.0 - held)

    def _choose_decode(self, sequence: Sequence) -> int:
        if sequence.decode_instance < 0:
            index = self.decode_router.choose(self._blocks(sequence))
            if index < 0:
                return -1
            self._take_decode(index, sequence)
        return sequence.decode_instance

    def prefill_started(self, sequence: Sequence, duration_s: float) -> None:
        """As in the plain fleet, where a decode instance is there."""
        if self.decode_router.open or sequence.decode_instance >= 0:
            super().prefill_started(sequence, duration_s)

    def prefilled(self, sequence: Sequence) -> None:
        """As in the plain fleet; a prompt prefilled again keeps the time of its first token."""
        if self.prefill_caches is not None:
            self.prefill_caches.prefilled(sequence.prefill_instance, sequence)
        if self.prefill_backlog is not None:
            self.prefill_backlog.done(sequence)
        before_s = sequence.first_token_s
        super().prefilled(sequence)
        if before_s == before_s:
            sequence.first_token_s = before_s

    def _send_pending(self, index: int) -> None:
        if index >= 0:
            super()._send_pending(index)

    def _flow(self, sequence: Sequence, size_bytes: float) -> Flow:
        flow = sequence.flow = super()._flow(sequence, size_bytes)
        self.transit[sequence.index] = sequence
        return flow

    def _deliver(self, sequence: Sequence) -> None:
        del self.transit[sequence.index]
        if self.decode_caches is not None:
            self.decode_caches.prefilled(sequence.decode_instance, sequence)
        super()._deliver(sequence)

    def _prefilled_locally(self, sequence: Sequence) -> None:
        if self.decode_caches is not None:
            self.decode_caches.prefilled(sequence.decode_instance, sequence)
        if self.decode_backlog is not None:
            self.decode_backlog.done(sequence)

    def _completed(self, sequence: Sequence) -> None:
        prefill, decode = self.prefill_caches, self.decode_caches
        if prefill is not None and decode is not None:
            decode.release(sequence, generated=True)
            came_from = sequence.prefill_instance
            if prefill.options.write_back and came_from >= 0 and not self.prefills[came_from].down:
                prefill.write_back(came_from, sequence)
        super()._completed(sequence)
