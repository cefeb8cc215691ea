"""Routing over instances that may be closed for a while, by load or by the longest cached prefix."""

from heapq import heapify, heappop, heappush, heapreplace

from pdexplorer.simulator.cache import Blocks, PrefixIndex

NONE_OPEN = -1


class Pool:
    """Loads of a pool's instances, and which are open.

    round_robin: each open one in turn. Else the least loaded, among equals the one sent to longest ago. With
    an index of cached blocks (prefix_aware): the least loaded of those with the longest prefix, unless its
    load is above load_ratio times the mean load with this request.
    """

    def __init__(
        self, policy: str, instances: int, index: PrefixIndex | None = None, load_ratio: float = 1.5
    ) -> None:
        self.instances = instances
        self.turns = policy == "round_robin"
        self.index = index if policy == "prefix_aware" else None
        self.load_ratio = load_ratio
        self.turn = -1
        self.load = [0.0] * instances
        self.total = 0.0
        self.open = (1 << instances) - 1
        self.last = [0] * instances
        self.sent = 0
        self.heap = [(0.0, 0, each) for each in range(instances)]

    def choose(self, blocks: Blocks = (), load: float = 1.0) -> int:
        """Instance of the next request, −1 where none is open."""
        if not self.open:
            return NONE_OPEN
        if self.turns:
            while True:
                self.turn = (self.turn + 1) % self.instances
                if self.is_open(self.turn):
                    return self.turn
        if self.index is not None and blocks:
            mask, depth = self.index.longest(blocks, self.open)
            if depth:
                best = min(_bits(mask), key=self.load.__getitem__)
                if self.load[best] * self.open.bit_count() <= self.load_ratio * (self.total + load):
                    return best
        heap = self.heap
        while True:
            value, turn, each = heap[0]
            if value == self.load[each] and turn == self.last[each] and self.open >> each & 1:
                return each
            heappop(heap)

    def change(self, instance: int, load: float) -> None:
        """Add to an instance's load."""
        self.load[instance] = value = self.load[instance] + load
        self.total += load
        if load > 0:
            self.sent = self.last[instance] = self.sent + 1
        if self.turns or not self.open >> instance & 1:
            return
        heap = self.heap
        if load > 0 and heap and heap[0][2] == instance:
            heapreplace(heap, (value, self.sent, instance))  # just chosen
        else:
            self._push(instance)

    def is_open(self, instance: int) -> bool:
        """Whether it takes new requests."""
        return bool(self.open >> instance & 1)

    def set_open(self, instance: int, is_open: bool) -> None:
        """Let it take new requests, or no more."""
        if is_open:
            self.open |= 1 << instance
            self._push(instance)
        else:
            self.open &= ~(1 << instance)

    def _push(self, instance: int) -> None:
        heappush(self.heap, (self.load[instance], self.last[instance], instance))
        if len(self.heap) > 2 * self.instances + 16:
            self.heap = [(self.load[each], self.last[each], each) for each in _bits(self.open)]
            heapify(self.heap)


def _bits(mask: int) -> list[int]:
    """Indices of the ones, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
