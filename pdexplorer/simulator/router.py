"""Which instance a request goes to."""

from heapq import heapify, heappop, heappush, heapreplace
from random import Random
from typing import Protocol

FRONTENDS = 10


class Router(Protocol):
    def choose(self) -> int:
        """Instance of the next request."""
        ...

    def change(self, instance: int, load: float) -> None:
        """Add to an instance's load: when a request is sent to it, and back when it is done there."""
        ...


class RoundRobin:
    """Each in turn, whatever their load."""

    __slots__ = ("instances", "turn")

    def __init__(self, instances: int) -> None:
        self.instances = instances
        self.turn = -1

    def choose(self) -> int:
        self.turn = (self.turn + 1) % self.instances
        return self.turn

    def change(self, instance: int, load: float) -> None:
        pass


class LeastLoaded:
    """The one with the least load; among equals the one sent to longest ago, as idle instances take turns.

    Always taking the lowest index would queue every transfer on one instance's port. An index, not a scan.
    """

    __slots__ = ("heap", "last", "load", "sent")

    def __init__(self, instances: int) -> None:
        self.load = [0.0] * instances
        self.last = [0] * instances
        self.sent = 0
        self.heap = [(0.0, 0, index) for index in range(instances)]

    def choose(self) -> int:
        heap, load, last = self.heap, self.load, self.last
        while True:
            value, turn, index = heap[0]
            if value == load[index] and turn == last[index]:
                return index
            heappop(heap)

    def change(self, instance: int, load: float) -> None:
        self.load[instance] = value = self.load[instance] + load
        heap = self.heap
        if load > 0:
            self.sent = self.last[instance] = self.sent + 1
            if heap[0][2] == instance:
                heapreplace(heap, (value, self.sent, instance))  # just chosen
                return
        heappush(heap, (value, self.last[instance], instance))
        if len(heap) > 2 * len(self.load) + 16:
            self.heap = [
                (value, turn, index)
                for index, (value, turn) in enumerate(zip(self.load, self.last, strict=True))
            ]
            heapify(self.heap)


class Frontends:
    """Several frontends behind one proxy: requests alternate between them, and each sends its own to every
    instance in turn, from a start of its own. Two may send to a full instance while another is free.
    """

    __slots__ = ("instances", "next", "turns")

    def __init__(self, instances: int, seed: int = 1) -> None:
        start = Random(seed)
        self.instances = instances
        self.turns = [start.randrange(instances) for _ in range(FRONTENDS)]
        self.next = 0

    def choose(self) -> int:
        self.next = (self.next + 1) % FRONTENDS
        turn = self.turns[self.next] = (self.turns[self.next] + 1) % self.instances
        return turn

    def change(self, instance: int, load: float) -> None:
        pass


def router_of(policy: str, instances: int) -> Router:
    """The router of that name; a single instance needs none."""
    if policy == "round_robin" or instances == 1:
        return RoundRobin(instances)
    if policy in ("least_loaded", "central_queue"):
        return LeastLoaded(instances)
    if policy == "frontends":
        return Frontends(instances)
    allowed = "round_robin, least_loaded, frontends or central_queue"
    raise ValueError(f"routing policy = {policy!r} must be {allowed}")
