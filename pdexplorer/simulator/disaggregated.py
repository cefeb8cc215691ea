"""A disaggregated fleet replayed: prefill pool, transfers with contention, decode pool.

A request goes to a prefill instance by the router; a decode instance is chosen when its KV can first move:
as its prefill starts where layers stream, else as it ends. KV moves once the decode side has reserved
memory for it; where there is none at the start of prefill, all of it is sent after prefill. The fixed
latency follows the last byte, and the hop into the decode engine follows both. A sequence preempted on the
decode side is recomputed there.
"""

from collections import deque
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.events import NORMAL, Call
from pdexplorer.simulator.link import Flow, Link
from pdexplorer.simulator.options import SimulationOptions
from pdexplorer.simulator.prefill import PrefillInstance
from pdexplorer.simulator.records import REFUSED
from pdexplorer.simulator.replay import Replay
from pdexplorer.simulator.router import Router, router_of
from pdexplorer.simulator.sequence import LEFT, NAN, WAITING, Sequence
from pdexplorer.simulator.specs import EngineSpec, LinkSpec, PrefillSpec
from pdexplorer.simulator.usage import PoolUsage, pool_usage
from pdexplorer.workload.requests import Requests


class Disaggregated(Replay):
    """The fleet's state. kv_bytes: what each request's transfer moves. engine_class: for tests."""

    def __init__(
        self,
        prefill: PrefillSpec,
        decode: EngineSpec,
        link: LinkSpec,
        first_token_from_prefill: bool,
        kv_bytes: list[float],
        requests: Requests,
        options: SimulationOptions,
        engine_class: Callable[..., Engine] = Engine,
    ) -> None:
        super().__init__(requests, options, prefill.request_overhead_s)
        env = self.env
        self.prefill = prefill
        self.decode = decode
        self.prefill_kv_tokens = prefill.kv_blocks * prefill.block_tokens
        self.decode_kv_tokens = decode.kv_blocks * decode.block_tokens
        self.first_token_from_prefill = first_token_from_prefill
        self.first_tokens = int(first_token_from_prefill)  # that the first decode iteration reads, too
        self.kv_bytes = kv_bytes
        self.overlap_layers = link.overlap_layers
        self.latency_s = link.latency_s
        self.decode_hop_s = options.router_overhead_s + decode.request_overhead_s
        self.link = Link(env, link, prefill.instances, decode.instances)
        self.central = options.routing == "central_queue"
        self.prefill_router = self._make_router(prefill.instances)
        self.decode_router = self._make_router(decode.instances)
        shared: deque[Sequence] = deque()
        self.prefills = [
            PrefillInstance(env, index, prefill, shared if self.central else deque(), self)
            for index in range(prefill.instances)
        ]
        self.pending: list[deque[Sequence]] = [deque() for _ in range(decode.instances)]
        self.engines = [
            engine_class(env, decode, self.gaps, self._finished, self._room_at(index))
            for index in range(decode.instances)
        ]
        # Bound once: a replay makes hundreds of thousands of events.
        self._on_start, self._on_sent, self._on_received = (self._start,), self._sent, (self._received,)
        self.sampled = (0.0, 0.0)
        self._open(prefill.instances + decode.instances)

    def _make_router(self, instances: int) -> Router:
        return router_of(self.options.routing, instances)

    # --- prefill side ---

    def _arrive(self, sequence: Sequence) -> None:
        if not self._fits(sequence):
            self._leave(sequence, REFUSED, NAN)
            return
        self.inside[sequence.index] = sequence
        if self.central:
            self.prefills[0].queue.append(sequence)
            for instance in self.prefills:
                if instance.step_event is None and instance.fits(sequence):
                    instance.attend()
                    break
            return
        index = self.prefill_router.choose()
        sequence.load = sequence.input_tokens - sequence.cached_tokens
        self.prefill_router.change(index, sequence.load)
        self.prefills[index].queue.append(sequence)
        self.prefills[index].attend()

    def _fits(self, sequence: Sequence) -> bool:
        """Whether its KV can ever fit on both sides."""
        return (
            sequence.input_tokens <= self.prefill_kv_tokens
            and sequence.input_tokens + sequence.output_tokens - 1 <= self.decode_kv_tokens
        )

    def prefill_started(self, sequence: Sequence, duration_s: float) -> None:
        """Stream the layers that will be done before the last one, if the decode side has room now."""
        layers = self.overlap_layers
        if not layers or (self.first_token_from_prefill and sequence.output_tokens == 1):
            return
        index = self._choose_decode(sequence)
        context = sequence.input_tokens + self.first_tokens
        if self.pending[index] or not self.engines[index].reserve(sequence, context):
            return
        sequence.transfer_start_s = start_s = self.env._now + duration_s / layers
        ahead = self.kv_bytes[sequence.index] * (layers - 1) / layers
        flow = sequence.flow = self._flow(sequence, ahead)
        Call(self.env, start_s, self._on_start, NORMAL, flow)

    def prefilled(self, sequence: Sequence) -> None:
        """Prefill is over: send what has not been sent, once there is room for it."""
        if not self.central:
            self.prefill_router.change(sequence.prefill_instance, -sequence.load)
        sequence.state = WAITING
        if self.first_token_from_prefill:
            sequence.first_token_s = self.env._now
            sequence.generated = 1
            if sequence.token_s is not None:
                sequence.token_s.append(self.env.now)
            if sequence.output_tokens == 1:
                sequence.state = LEFT
                self.prefills[sequence.prefill_instance].release(sequence)
                self._completed(sequence)
                return
        if sequence.reserved:
            self._moving(sequence)
            last_layer = self.kv_bytes[sequence.index] / self.overlap_layers
            flow = sequence.flow
            if flow is None or flow.done:
                self.link.send(self._flow(sequence, last_layer))
            else:
                self.link.extend(flow, last_layer)
            return
        index = sequence.decode_instance
        if index < 0:
            index = self._choose_decode(sequence)
        self.pending[index].append(sequence)
        self._send_pending(index)

    # --- transfer ---

    def _choose_decode(self, sequence: Sequence) -> int:
        index = self.decode_router.choose()
        self.decode_router.change(index, 1.0)
        sequence.decode_instance = index
        return index

    def _room_at(self, index: int) -> Callable[[], None]:
        return lambda: self._send_pending(index)

    def _send_pending(self, index: int) -> None:
        pending, engine = self.pending[index], self.engines[index]
        while pending and engine.reserve(pending[0], pending[0].input_tokens + self.first_tokens):
            sequence = pending.popleft()
            sequence.transfer_start_s = self.env._now
            self._moving(sequence)
            self.link.send(self._flow(sequence, self.kv_bytes[sequence.index]))

    def _flow(self, sequence: Sequence, size_bytes: float) -> Flow:
        return Flow(sequence.prefill_instance, sequence.decode_instance, size_bytes, self._on_sent, sequence)

    def _start(self, event: Call) -> None:
        self.link.send(event.payload)

    def _moving(self, sequence: Sequence) -> None:
        """Its prefill is over and only the transfer is left."""
        engine = self.engines[sequence.decode_instance]
        engine.in_transfer += 1
        engine.show_waiting()
        self.prefills[sequence.prefill_instance].moving(1)

    def _sent(self, sequence: Sequence) -> None:
        if sequence.prefill_end_s != sequence.prefill_end_s:
            return  # NaN: the layers so far have arrived, the last is still computed
        sequence.transfer_end_s = end_s = self.env._now + self.latency_s
        Call(self.env, end_s + self.decode_hop_s, self._on_received, NORMAL, sequence)

    def _received(self, event: Call) -> None:
        self._deliver(event.payload)

    def _deliver(self, sequence: Sequence) -> None:
        sequence.flow = None
        engine = self.engines[sequence.decode_instance]
        engine.in_transfer -= 1
        engine.receive(sequence)
        prefill = self.prefills[sequence.prefill_instance]
        prefill.moving(-1)
        prefill.release(sequence)

    # --- leaving, and the end ---

    def _finished(self, sequence: Sequence) -> None:
        self.decode_router.change(sequence.decode_instance, -1.0)
        self._completed(sequence)

    def _close(self, now_s: float) -> None:
        for instance in self.prefills:
            instance.close(now_s)
        for engine in self.engines:
            engine.close(now_s)

    def _pools(self) -> Mapping[str, PoolUsage]:
        return {
            "prefill": pool_usage([instance.usage for instance in self.prefills]),
            "decode": pool_usage([engine.usage for engine in self.engines]),
        }

    def _link_busy_s(self) -> Mapping[str, NDArray[np.float64]]:
        link = self.link
        return {
            "egress": np.array(link.egress_bytes) / link.spec.egress_byte_per_s,
            "ingress": np.array(link.ingress_bytes) / link.spec.ingress_byte_per_s,
            "fabric": np.array([link.bytes_moved]) / link.nominal_fabric_byte_per_s,
        }

    def _bytes_moved(self) -> float:
        return self.link.bytes_moved

    def _sample(self) -> tuple[float, ...]:
        now_s, engines, prefills = self.env.now, self.engines, self.prefills
        queues = prefills[:1] if self.central else prefills
        waiting = sum(len(each.queue) for each in queues) + sum(len(each.waiting) for each in engines)
        batch = sum(engine.decodes.size for engine in engines)
        held = sum(engine.kv_blocks_held(now_s) for engine in engines)
        moving = sum(engine.in_transfer for engine in engines)
        before_s, before_busy_s = self.sampled
        busy_s = self.link.bytes_moved / self.link.spec.egress_byte_per_s
        self.sampled = (now_s, busy_s)
        elapsed_s = (now_s - before_s) * len(prefills)
        use = (busy_s - before_busy_s) / elapsed_s if elapsed_s > 0 else 0.0
        return waiting, batch, held / max(1, self.decode.kv_blocks * len(engines)), moving, use
