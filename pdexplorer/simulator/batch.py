"""The sequences an instance decodes together: sums over them, and who is next to finish, in iterations.

Everything is kept so that any number of iterations costs the same: finishes and window crossings are heaps
over a global iteration count, contexts are sums.
"""

from heapq import heappop, heappush

from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.kv import BlockPool
from pdexplorer.simulator.sequence import DECODING, LEFT, Sequence


class DecodeBatch:
    """size sequences at `iteration`; context_sum is what the next iteration reads, window_sum the same
    capped.
    """

    __slots__ = (
        "below_window",
        "context_sum",
        "crossings",
        "end_s",
        "finishes",
        "first_tokens",
        "gaps",
        "iteration",
        "kv",
        "last_tokens",
        "preempted",
        "size",
        "traced",
        "window",
        "window_sum",
    )

    def __init__(self, kv: BlockPool, window: int | None, gaps: GapHistogram) -> None:
        self.kv = kv
        self.window = window
        self.gaps = gaps
        self.size = 0
        self.iteration = 0
        self.context_sum = 0
        self.window_sum = 0
        self.below_window = 0
        self.finishes: list[tuple[int, int, Sequence]] = []
        self.crossings: list[tuple[int, int, Sequence]] = []
        self.first_tokens: list[Sequence] = []  # decoding, without a token yet
        self.last_tokens: list[tuple[float, int]] = []  # (time, sequences whose latest token came then)
        self.traced: list[Sequence] = []  # whose every token is noted
        self.end_s = -1.0  # of the last iteration
        self.preempted = False  # whether ever: then heaps may hold stale entries

    def steps_ahead(self) -> int:
        """Iterations until a sequence finishes, reaches the window or lacks a KV block."""
        iteration = self.iteration
        steps = self.finishes[0][0] - iteration
        if self.crossings and self.crossings[0][0] - iteration < steps:
            steps = self.crossings[0][0] - iteration
        kv = self.kv
        if (steps // kv.block_tokens + 1) * self.size <= kv.free:
            return steps
        return kv.steps_that_fit(iteration, steps, self.size)

    def advance(
        self, steps: int, start_s: float, base_s: float, ramp_s: float, now_s: float
    ) -> list[Sequence]:
        """Run that many iterations, k of which take k·base + k²·ramp; the sequences that are through."""
        batch = self.size
        self.kv.grow(self.iteration, steps, batch)
        self.iteration = iteration = self.iteration + steps
        grown = steps * batch
        self.context_sum += grown
        self.window_sum += grown if self.window is None else steps * self.below_window
        first_s = start_s + base_s + ramp_s
        self.end_s = now_s
        if self.traced:
            times_s = [start_s + step * (base_s + step * ramp_s) for step in range(1, steps)]
            for sequence in self.traced:
                assert sequence.token_s is not None
                sequence.token_s += [*times_s, now_s]
        gaps = self.gaps
        for since_s, sequences in self.last_tokens:
            gaps.add(first_s - since_s, sequences)
        if steps > 1:
            gaps.add_ramp(base_s + 3.0 * ramp_s, 2.0 * ramp_s, steps - 1, batch)
        if self.first_tokens:
            for sequence in self.first_tokens:
                sequence.first_token_s = first_s
            self.first_tokens = []
        crossings = self.crossings
        while crossings and crossings[0][0] <= iteration:
            due, _, sequence = heappop(crossings)
            if sequence.state == DECODING and sequence.cross_iteration == due:
                sequence.cross_iteration = -1
                self.below_window -= 1
        finished = []
        finishes = self.finishes
        while finishes and finishes[0][0] <= iteration:
            due, _, sequence = heappop(finishes)
            if sequence.state == DECODING and sequence.finish_iteration == due:
                self._leave(sequence)
                sequence.state = LEFT
                sequence.generated = sequence.output_tokens
                finished.append(sequence)
        if self.preempted:
            self.drop_stale()
        self.last_tokens = [(now_s, self.size)] if self.size else []
        return finished

    def join(self, sequence: Sequence, now_s: float) -> None:
        """Decode from the next iteration on."""
        iteration = self.iteration
        context = sequence.input_tokens + sequence.generated
        sequence.state = DECODING
        sequence.join_iteration = iteration
        sequence.join_context = context
        sequence.join_s = now_s
        if sequence.token_s is not None:
            self.traced.append(sequence)
        sequence.slot = self.kv.slot(iteration, context)
        self.kv.phase[sequence.slot] += 1
        self.size += 1
        self.context_sum += context
        sequence.finish_iteration = iteration + sequence.output_tokens - sequence.generated
        heappush(self.finishes, (sequence.finish_iteration, sequence.admitted, sequence))
        window = self.window
        sequence.cross_iteration = -1
        if window is None:
            self.window_sum += context
        elif context < window:
            self.window_sum += context
            self.below_window += 1
            sequence.cross_iteration = iteration + window - context
            heappush(self.crossings, (sequence.cross_iteration, sequence.admitted, sequence))
        else:
            self.window_sum += window
        if sequence.generated == 0:
            self.first_tokens.append(sequence)
            return
        last_tokens = self.last_tokens
        if sequence.generated == 1 and sequence.first_token_s < now_s:
            last_tokens.append((sequence.first_token_s, 1))  # its first token came from the prefill pool
        elif last_tokens and last_tokens[-1][0] == now_s:
            last_tokens[-1] = (now_s, last_tokens[-1][1] + 1)
        else:
            last_tokens.append((now_s, 1))

    def preempt(self, victim: Sequence) -> None:
        """Out of the batch before it is through; it keeps what it generated."""
        self.preempted = True
        self._forget_last_token(victim)
        victim.generated += self.iteration - victim.join_iteration
        self._leave(victim)

    def drop_stale(self) -> None:
        """Tops of the heaps must be live: preempted sequences leave theirs behind."""
        heap = self.finishes
        while heap and not (heap[0][2].state == DECODING and heap[0][2].finish_iteration == heap[0][0]):
            heappop(heap)
        heap = self.crossings
        while heap and not (heap[0][2].state == DECODING and heap[0][2].cross_iteration == heap[0][0]):
            heappop(heap)

    def _leave(self, sequence: Sequence) -> None:
        """Out of the decode batch; its blocks are free."""
        if sequence.token_s is not None:
            self.traced.remove(sequence)
            sequence.spans.append(("decode", sequence.join_s, max(sequence.join_s, self.end_s)))
        context = sequence.join_context + self.iteration - sequence.join_iteration
        kv = self.kv
        kv.phase[sequence.slot] -= 1
        kv.free += kv.blocks_of(context - 1)
        self.size -= 1
        self.context_sum -= context
        window = self.window
        if window is None:
            self.window_sum -= context
        elif context < window:
            self.window_sum -= context
            self.below_window -= 1
        else:
            self.window_sum -= window

    def _forget_last_token(self, victim: Sequence) -> None:
        """Its next gap ends with its recomputed prefill, not with the next iteration."""
        if victim in self.first_tokens:
            self.first_tokens.remove(victim)
            return
        if victim.join_iteration < self.iteration:
            since_s = self.end_s
        elif victim.generated == 1 and victim.first_token_s < victim.join_s:
            since_s = victim.first_token_s
        else:
            since_s = victim.join_s
        victim.last_token_s = since_s
        for row, (time_s, sequences) in enumerate(self.last_tokens):
            if time_s == since_s:
                self.last_tokens[row] = (time_s, sequences - 1)
                return
