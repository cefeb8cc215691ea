"""KV transfers between the pools, sharing three kinds of ports.

A prefill instance sends one transfer at a time, first come first served; where the link is throttled, it
holds the next one back while as many as allowed enter that decode instance. The transfers under way share
fairly what they meet: all that enter one decode instance get equal parts of its ingress, and where the
fabric carries less than they could send, nobody gets more than an equal part of it (max-min). Rates change
only when a transfer starts or ends; in between, everything that enters one decode instance has moved
equally far, so its next to end is the top of a heap.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import simpy

from pdexplorer.simulator.events import NORMAL, Call
from pdexplorer.simulator.specs import LinkSpec


class Flow:
    """A sequence's transfer, or the part of it handed over; on_done(sequence) comes with the last byte."""

    __slots__ = (
        "active",
        "cancelled",
        "decode",
        "done",
        "on_done",
        "prefill",
        "sequence",
        "size_bytes",
        "until_bytes",
    )

    def __init__(
        self,
        prefill: int,
        decode: int,
        size_bytes: float,
        on_done: Callable[[Any], None],
        sequence: Any,
    ) -> None:
        self.prefill = prefill
        self.decode = decode
        self.size_bytes = size_bytes
        self.on_done = on_done
        self.sequence = sequence
        self.active = False
        self.done = False
        self.cancelled = False
        self.until_bytes = 0.0


class _Ingress:
    """What enters one decode instance: `flows` of them at `rate`, each moved by `moved_bytes` in all so
    far.
    """

    __slots__ = ("event", "flows", "heap", "moved_bytes", "rate", "since_s", "waiting")

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, Flow]] = []
        self.flows = 0
        self.waiting: deque[Flow] = deque()  # heads of their ports' queues, not admitted yet
        self.rate = 0.0
        self.moved_bytes = 0.0
        self.since_s = 0.0
        self.event: Call | None = None


class Link:
    """Ports, and the bytes that have arrived through each."""

    def __init__(
        self, env: simpy.Environment, spec: LinkSpec, prefill_instances: int, decode_instances: int
    ) -> None:
        self.env = env
        self.spec = spec
        self.egress_byte_per_s = spec.egress_byte_per_s
        self.ingress_byte_per_s = spec.ingress_byte_per_s
        self.fabric_byte_per_s = spec.egress_byte_per_s * prefill_instances * spec.fabric_fraction
        self.nominal_fabric_byte_per_s = self.fabric_byte_per_s
        self.lone_byte_per_s = self._cap(1)
        self.queues: list[deque[Flow]] = [deque() for _ in range(prefill_instances)]
        self.ingresses = [_Ingress() for _ in range(decode_instances)]
        self.egress_bytes = [0.0] * prefill_instances
        self.ingress_bytes = [0.0] * decode_instances
        self.started = 0
        self.at_once = spec.transfers_at_once
        self._on_end = (self._end,)
        self.fabric_may_bind = spec.fabric_fraction < 1.0
        self.fabric_binds = False

    @property
    def bytes_moved(self) -> float:
        """Bytes of transfers, or parts of them, that have arrived."""
        return sum(self.egress_bytes)

    def send(self, flow: Flow) -> None:
        """Hand a transfer to its prefill instance's port."""
        queue = self.queues[flow.prefill]
        queue.append(flow)
        if len(queue) == 1:
            self._start(flow)

    def extend(self, flow: Flow, size_bytes: float) -> None:
        """More bytes for a transfer that has not ended."""
        flow.size_bytes += size_bytes
        if flow.active:
            ingress = self.ingresses[flow.decode]
            flow.until_bytes += size_bytes
            self._push(ingress, flow)
            self._schedule(ingress)

    def cancel(self, flow: Flow) -> None:
        """Give a transfer up, sent or not; bytes on their way are lost."""
        flow.cancelled = True
        queue = self.queues[flow.prefill]
        if flow.done or flow not in queue:
            return
        was_head = queue[0] is flow
        queue.remove(flow)
        ingress = self.ingresses[flow.decode]
        if flow.active:
            flow.done, flow.active = True, False
            self._catch_up(ingress)
            self._left(ingress)
        elif flow in ingress.waiting:
            ingress.waiting.remove(flow)
        if was_head and queue:
            self._start(queue[0])

    def scale(self, fraction: float) -> None:
        """Every port and the fabric carry that share of their rates from now on."""
        self.egress_byte_per_s = self.spec.egress_byte_per_s * fraction
        self.ingress_byte_per_s = self.spec.ingress_byte_per_s * fraction
        self.fabric_byte_per_s = self.nominal_fabric_byte_per_s * fraction
        self.lone_byte_per_s = self._cap(1)
        self.fabric_binds = self.fabric_may_bind  # share out anew
        for each in self.ingresses:
            self._catch_up(each)
            self._share(each)

    def _start(self, flow: Flow) -> None:
        ingress = self.ingresses[flow.decode]
        if ingress.flows == self.at_once:
            ingress.waiting.append(flow)
            return
        flow.active = True
        if not ingress.flows and not self.fabric_may_bind:
            self._start_alone(ingress, flow)
            return
        self._catch_up(ingress)
        flow.until_bytes = ingress.moved_bytes + flow.size_bytes
        self._push(ingress, flow)
        ingress.flows += 1
        self._share(ingress)

    def _start_alone(self, ingress: _Ingress, flow: Flow) -> None:
        """What _share and _schedule come to for most transfers."""
        ingress.flows = 1
        ingress.since_s = now_s = self.env._now
        ingress.rate = rate = self.lone_byte_per_s
        flow.until_bytes = until_bytes = ingress.moved_bytes + flow.size_bytes
        self.started = started = self.started + 1
        ingress.heap.append((until_bytes, started, flow))  # which was empty
        ingress.event = Call(self.env, now_s + flow.size_bytes / rate, self._on_end, NORMAL, ingress)

    def _push(self, ingress: _Ingress, flow: Flow) -> None:
        self.started += 1
        heappush(ingress.heap, (flow.until_bytes, self.started, flow))

    def _catch_up(self, ingress: _Ingress) -> None:
        now_s = self.env._now
        ingress.moved_bytes += ingress.rate * (now_s - ingress.since_s)
        ingress.since_s = now_s

    def _share(self, changed: _Ingress) -> None:
        """New rates after a start or an end at `changed`."""
        if not self.fabric_may_bind:
            if changed.flows:
                share = self.ingress_byte_per_s / changed.flows
                changed.rate = share if share < self.egress_byte_per_s else self.egress_byte_per_s
                self._schedule(changed)
            return
        fabric = self.fabric_byte_per_s
        caps = [(self._cap(each.flows), each) for each in self.ingresses if each.flows]
        binds = sum(rate * each.flows for rate, each in caps) > fabric * (1.0 + 1e-12)
        if not binds and not self.fabric_binds:
            if changed.flows:
                changed.rate = self._cap(changed.flows)
                self._schedule(changed)
            return
        self.fabric_binds = binds
        left, flows = fabric, sum(each.flows for _, each in caps)
        for cap, each in sorted(caps, key=lambda pair: pair[0]):
            self._catch_up(each)
            each.rate = min(cap, left / flows) if binds else cap
            left -= each.rate * each.flows
            flows -= each.flows
            self._schedule(each)

    def _cap(self, flows: int) -> float:
        """Rate of each of the flows into one decode instance, by egress and ingress alone."""
        share = self.ingress_byte_per_s / flows
        return share if share < self.egress_byte_per_s else self.egress_byte_per_s

    def _schedule(self, ingress: _Ingress) -> None:
        heap = ingress.heap
        until_bytes, _, flow = heap[0]
        while flow.done or until_bytes != flow.until_bytes:
            heappop(heap)  # extended since
            until_bytes, _, flow = heap[0]
        wait_s = (until_bytes - ingress.moved_bytes) / ingress.rate
        ingress.event = Call(self.env, ingress.since_s + wait_s, self._on_end, NORMAL, ingress)

    def _left(self, ingress: _Ingress) -> None:
        """One flow fewer there."""
        ingress.flows -= 1
        if not ingress.flows:
            ingress.event = None
            ingress.moved_bytes = 0.0  # nobody to compare with: keep the digits
            ingress.heap.clear()
        if ingress.waiting:
            self._start(ingress.waiting.popleft())
        elif ingress.flows or self.fabric_may_bind:
            self._share(ingress)

    def _end(self, event: Call) -> None:
        ingress: _Ingress = event.payload
        if event is not ingress.event:
            return  # rates have changed since
        until_bytes, _, flow = heappop(ingress.heap)
        ingress.moved_bytes = until_bytes
        ingress.since_s = self.env._now
        flow.done, flow.active = True, False
        self.egress_bytes[flow.prefill] += flow.size_bytes
        self.ingress_bytes[flow.decode] += flow.size_bytes
        self._left(ingress)
        queue = self.queues[flow.prefill]
        queue.popleft()
        if queue:
            self._start(queue[0])
        flow.on_done(flow.sequence)
