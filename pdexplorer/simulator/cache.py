"""Prefix caches by block hash: least recently used goes first, capacity is real.

A hash stands for a block and all before it, so a prompt hits a cache up to its first block that is missing.
On an accelerator the KV of running sequences comes first: what is left of its memory keeps blocks nobody
uses. Blocks of running sequences are hit too and are charged once, whoever came first.
"""

from collections.abc import Callable, Sequence

from pdexplorer.workload.prefix import leading

Blocks = Sequence[int]


class PrefixIndex:
    """Which instances hold each block, as a bit mask: the longest prefix is found without asking each."""

    __slots__ = ("masks",)

    def __init__(self) -> None:
        self.masks: dict[int, int] = {}

    def add(self, block: int, instance: int) -> None:
        self.masks[block] = self.masks.get(block, 0) | (1 << instance)

    def drop(self, block: int, instance: int) -> None:
        mask = self.masks[block] & ~(1 << instance)
        if mask:
            self.masks[block] = mask
        else:
            del self.masks[block]

    def longest(self, blocks: Blocks, allowed: int) -> tuple[int, int]:
        """(instances that hold the most leading blocks, how many those are) among an allowed mask."""
        best, depth = allowed, 0
        for block in blocks:
            mask = best & self.masks.get(block, 0)
            if not mask:
                break
            best, depth = mask, depth + 1
        return best, depth


class LruCache:
    """Blocks of a memory of its own, at most `blocks` of them."""

    __slots__ = ("blocks", "held")

    def __init__(self, blocks: float) -> None:
        self.blocks = blocks
        self.held: dict[int, None] = {}  # oldest first

    def __contains__(self, block: int) -> bool:
        return block in self.held

    def hits(self, blocks: Blocks) -> int:
        """Leading blocks that are here."""
        return leading(blocks, self.held)

    def put(self, blocks: Blocks) -> None:
        """Keep these, as used now; the first of a prompt stay longest."""
        held = self.held
        for block in reversed(blocks):
            held.pop(block, None)
            held[block] = None
        while len(held) > self.blocks:
            del held[next(iter(held))]


class HbmCache:
    """Blocks in one accelerator's KV memory: held by running sequences, or idle in what those leave free.

    free_blocks() gives the fewest hash blocks that were free since it was last asked, so that what running
    sequences pushed out in between is gone.
    """

    __slots__ = ("free_blocks", "held", "idle", "index", "instance")

    def __init__(self, instance: int, free_blocks: Callable[[], float], index: PrefixIndex) -> None:
        self.instance = instance
        self.free_blocks = free_blocks
        self.index = index
        self.held: dict[int, int] = {}  # block: running sequences that hold it
        self.idle: dict[int, None] = {}  # oldest first

    def hits(self, blocks: Blocks) -> int:
        """Leading blocks that are here; they count as used now."""
        self.trim()
        held, idle = self.held, self.idle
        count = 0
        for block in blocks:
            if block not in held and block not in idle:
                break
            count += 1
        for block in reversed(blocks[:count]):
            if block in idle:
                del idle[block]
                idle[block] = None
        return count

    def hold(self, blocks: Blocks) -> None:
        """A sequence running here has computed, or received, these."""
        self.trim()
        self.hold_hits(blocks)

    def hold_hits(self, blocks: Blocks) -> None:
        """The same straight after hits()."""
        held, idle = self.held, self.idle
        for block in blocks:
            users = held.get(block, 0)
            held[block] = users + 1
            if not users:
                if block in idle:
                    del idle[block]
                else:
                    self.index.add(block, self.instance)

    def release(self, blocks: Blocks, new: Blocks = ()) -> None:
        """The sequence has left: what it held, and new blocks it filled, stay while there is room."""
        self.trim()  # what peaks have pushed out is gone before there was this room
        held, idle = self.held, self.idle
        for block in reversed(new):
            if block not in held and block not in idle:
                idle[block] = None
                self.index.add(block, self.instance)
        for block in reversed(blocks):
            users = held.get(block, 0)
            if users > 1:
                held[block] = users - 1
            elif users:
                del held[block]
                idle[block] = None
        self.trim()

    def shared(self, blocks: Blocks, users: int = 1) -> int:
        """Leading blocks that at least that many running sequences hold; looked at only."""
        held = self.held
        count = 0
        for block in blocks:
            if held.get(block, 0) < users:
                break
            count += 1
        return count

    def trim(self) -> None:
        """Forget the oldest idle blocks that no longer fit."""
        room = self.free_blocks()
        idle = self.idle
        while len(idle) > room:
            block = next(iter(idle))
            del idle[block]
            self.index.drop(block, self.instance)

    def clear(self) -> None:
        """The instance died."""
        for block in (*self.held, *self.idle):
            self.index.drop(block, self.instance)
        self.held.clear()
        self.idle.clear()
