"""KV memory of one instance, by blocks, with the growth of a decode batch in closed form.

A decoding sequence takes a new block every block_tokens iterations. Counting sequences by the iteration
(modulo block_tokens) at which they do gives the blocks that any number of iterations ahead will take,
without a loop over sequences.
"""


class BlockPool:
    """Free blocks, and how many decoding sequences take one at each iteration modulo block_tokens. low: the
    fewest that were free since someone last set it.
    """

    __slots__ = ("block_tokens", "blocks", "free", "low", "phase", "watermark")

    def __init__(self, blocks: int, block_tokens: int, watermark: int) -> None:
        self.blocks = blocks
        self.block_tokens = block_tokens
        self.watermark = watermark
        self.free = self.low = blocks
        self.phase = [0] * block_tokens

    def blocks_of(self, tokens: int) -> int:
        return -(-tokens // self.block_tokens)

    def admits(self, blocks: int) -> bool:
        """Whether a prompt of that many blocks may come in: it leaves the watermark free, or is alone."""
        return blocks <= self.free - self.watermark or (self.free == self.blocks and blocks <= self.free)

    def slot(self, iteration: int, context: int) -> int:
        """Phase of a sequence that reads `context` tokens at `iteration`, where it holds those before the
        last.
        """
        return (iteration + 1 - context) % self.block_tokens

    def grow(self, iteration: int, steps: int, batch: int) -> None:
        """Take the blocks of that many decode iterations from `iteration` on."""
        taken = (
            self.phase[iteration % self.block_tokens] if steps == 1 else self.taken(iteration, steps, batch)
        )
        self.free = free = self.free - taken
        if free < self.low:
            self.low = free

    def take(self, blocks: int) -> None:
        """That many are in use from now on."""
        self.free = free = self.free - blocks
        if free < self.low:
            self.low = free

    def steps_that_fit(self, iteration: int, steps: int, batch: int, reserved: int = 0) -> int:
        """At most `steps`: how many iterations the free blocks carry, less those to be reserved."""
        size, free = self.block_tokens, self.free - reserved
        if -(-steps // size) * batch <= free or self.taken(iteration, steps, batch) <= free:
            return steps
        cycles = free // batch
        left = free - cycles * batch
        fit = cycles * size
        phase = self.phase
        while phase[(iteration + fit) % size] <= left:
            left -= phase[(iteration + fit) % size]
            fit += 1
        return fit

    def taken(self, iteration: int, steps: int, batch: int) -> int:
        """Blocks that many decode iterations take from `iteration` on."""
        size = self.block_tokens
        cycles, rest = divmod(steps, size)
        taken = cycles * batch
        if rest:
            first = iteration % size
            end = first + rest
            phase = self.phase
            if end <= size:
                taken += sum(phase[first:end])
            else:
                taken += sum(phase[first:]) + sum(phase[: end - size])
        return taken
