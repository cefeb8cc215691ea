"""Which instance a request goes to."""

from heapq import heapify, heappop, heappush
from typing import Protocol


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
    """The one with the least load, the lowest index among equals; an index over loads, not a scan."""

    __slots__ = ("heap", "load")

    def __init__(self, instances: int) -> None:
        self.load = [0.0] * instances
        self.heap = [(0.0, index) for index in range(instances)]

    def choose(self) -> int:
        heap, load = self.heap, self.load
        while heap[0][0] != load[heap[0][1]]:
            heappop(heap)
        return heap[0][1]

    def change(self, instance: int, load: float) -> None:
        self.load[instance] += load
        heappush(self.heap, (self.load[instance], instance))
        if len(self.heap) > 8 * len(self.load) + 64:
            self.heap = [(value, index) for index, value in enumerate(self.load)]
            heapify(self.heap)


def router_of(policy: str, instances: int) -> Router:
    """The router of that name; a single instance needs none."""
    if policy == "round_robin" or instances == 1:
        return RoundRobin(instances)
    if policy in ("least_loaded", "central_queue"):
        return LeastLoaded(instances)
    raise ValueError(f"routing policy = {policy!r} must be round_robin, least_loaded or central_queue")
