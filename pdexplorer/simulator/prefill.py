"""One instance of a prefill pool: whole prompts, first come first served, several a step up to a token
budget.

KV of a prompt is taken when its step starts and given back when its transfer has ended, so slow transfers
stall prefill once memory is full. With pipeline stages the next step starts once the first stage is free,
while the prompts of the last one are still on their way through the others.
"""

from collections import deque
from collections.abc import Callable
from typing import Protocol

import simpy

from pdexplorer.simulator.events import AFTER_ARRIVALS, Call, alone_now
from pdexplorer.simulator.sequence import PREFILLING, Sequence
from pdexplorer.simulator.specs import PrefillSpec
from pdexplorer.simulator.usage import BLOCKED, BUSY, IDLE, InstanceUsage
from pdexplorer.simulator.work import prefill_work


class PrefillListener(Protocol):
    """Who is told of a prompt's progress."""

    def prefill_started(self, sequence: Sequence, duration_s: float) -> None: ...

    def prefilled(self, sequence: Sequence) -> None: ...


class PrefillInstance:
    """State of one instance; `queue` may be shared by the pool."""

    __slots__ = (
        "_on_last_stage",
        "_on_step",
        "down",
        "duration_s",
        "eager",
        "env",
        "free_blocks",
        "index",
        "leaving",
        "listener",
        "low_blocks",
        "on_admit",
        "on_hold",
        "on_release",
        "queue",
        "running",
        "shared_blocks",
        "spec",
        "start_s",
        "step_event",
        "transfers",
        "usage",
        "window",
    )

    def __init__(
        self,
        env: simpy.Environment,
        index: int,
        spec: PrefillSpec,
        queue: deque[Sequence],
        listener: PrefillListener,
    ) -> None:
        self.env = env
        self.index = index
        self.spec = spec
        self.window = spec.timer.window_tokens
        self.queue = queue
        self.listener = listener
        self.free_blocks = self.low_blocks = spec.kv_blocks
        # Of a prefix cache: KV blocks not charged, past_tokens of a head (may rise), who starts, who leaves.
        self.shared_blocks: Callable[[int, Sequence], int] | None = None
        self.on_admit: Callable[[int, Sequence], object] | None = None
        self.on_hold: Callable[[int, Sequence], None] | None = None
        self.on_release: Callable[[Sequence], None] | None = None
        self.down = False
        self.eager = True  # may start at once where nothing else happens at this time
        self.transfers = 0  # under way after prefill, holding KV here
        self.running: list[Sequence] = []
        self.leaving: dict[Call, list[Sequence]] = {}  # through the first stage, not yet through the last
        self.duration_s = 0.0
        self.step_event: Call | None = None
        self.start_s = 0.0
        self.usage = InstanceUsage()
        self._on_step = (self._step,)
        self._on_last_stage = (self._through,)

    def attend(self) -> None:
        """Something came in, or KV was freed: start if no step runs."""
        if self.step_event is None and not self.down:
            if self.eager and alone_now(self.env):
                self._step(None)
                return
            self.step_event = Call(self.env, self.env._now, self._on_step, AFTER_ARRIVALS)

    def moving(self, transfers: int) -> None:
        """That many more transfers, or fewer, are under way from here."""
        self.transfers += transfers
        if self.step_event is None:
            self._show_waiting()

    def release(self, sequence: Sequence) -> None:
        """The KV of a sequence is no longer needed here."""
        self.free_blocks += self.blocks_of(sequence.input_tokens)
        if self.on_release is not None:
            self.on_release(sequence)
        if self.queue:
            self.attend()

    def fits(self, sequence: Sequence) -> bool:
        """Whether its KV fits now."""
        return self.blocks_needed(sequence) <= self.free_blocks

    def charge(self, blocks: int) -> None:
        """Take that many KV blocks, or give back a negative number."""
        self.free_blocks -= blocks
        if self.free_blocks < self.low_blocks:
            self.low_blocks = self.free_blocks

    def blocks_needed(self, sequence: Sequence) -> int:
        """KV blocks of a prompt beyond those that others here hold."""
        blocks = self.blocks_of(sequence.input_tokens)
        return blocks if self.shared_blocks is None else blocks - self.shared_blocks(self.index, sequence)

    def blocks_of(self, tokens: int) -> int:
        return -(-tokens // self.spec.block_tokens)

    def kv_low_blocks(self) -> int:
        """Fewest blocks free since the last call."""
        low, self.low_blocks = self.low_blocks, self.free_blocks
        return low

    def evacuate(self) -> list[Sequence]:
        """The instance dies: the prompts it was computing; whatever KV it held is lost."""
        lost = [*(each for batch in self.leaving.values() for each in batch), *self.running]
        self.close(self.env.now)
        self.step_event = None
        self.transfers = 0
        self.free_blocks = self.low_blocks = self.spec.kv_blocks
        self.usage.enter(IDLE, self.env.now)
        return lost

    def close(self, now_s: float) -> None:
        """End of the replay: account for the step now running up to here."""
        if self.running:
            self.usage.prefill_busy_s += now_s - self.start_s
            self.running = []
        self.leaving = {}
        self.usage.enter(BUSY, now_s)

    def _step(self, event: Call | None) -> None:
        if event is not self.step_event:
            return  # died since
        now_s = self.env._now
        if self.running:
            self.usage.prefill_busy_s += now_s - self.start_s
            done, self.running = self.running, []
            if self.spec.held_share < 1.0:
                end_s = self.start_s + self.duration_s
                self.leaving[Call(self.env, end_s, self._on_last_stage, AFTER_ARRIVALS)] = done
            else:
                self._finish(done, now_s)
        self.step_event = None
        batch = self._next_batch()
        if not batch:
            self._show_waiting()
            return
        work = prefill_work([(each, each.input_tokens - each.past_tokens) for each in batch], self.window)
        duration_s = self.spec.timer.mixed_s(*work, 0, 0.0, 0.0)
        self.running = batch
        self.start_s, self.duration_s = now_s, duration_s
        self.usage.enter(BUSY, now_s)
        end_s = now_s + duration_s * self.spec.held_share
        if event is None:
            event = Call(self.env, end_s, self._on_step, AFTER_ARRIVALS)
        else:
            event.again(self.env, end_s, AFTER_ARRIVALS)
        self.step_event = event
        for sequence in batch:
            sequence.prefill_start_s = now_s
            self.listener.prefill_started(sequence, duration_s)

    def _through(self, event: Call) -> None:
        done = self.leaving.pop(event, None)  # None: died since
        if done is not None:
            self._finish(done, self.env._now)

    def _finish(self, done: list[Sequence], now_s: float) -> None:
        for sequence in done:
            sequence.past_tokens = sequence.input_tokens
            sequence.prefill_end_s = now_s
            if sequence.token_s is not None:
                sequence.spans.append(("prefill", sequence.prefill_start_s, now_s))
            self.listener.prefilled(sequence)

    def _next_batch(self) -> list[Sequence]:
        batch: list[Sequence] = []
        queue = self.queue
        budget = self.spec.batch_tokens
        while queue:
            head = queue[0]
            if self.on_admit is not None:
                self.on_admit(self.index, head)
            new = head.input_tokens - head.past_tokens
            blocks = self.blocks_needed(head)
            if (batch and new > budget) or blocks > self.free_blocks:
                break
            queue.popleft()
            if self.on_hold is not None:
                self.on_hold(self.index, head)
            self.charge(blocks)
            budget -= new
            head.state = PREFILLING
            head.prefill_instance = self.index
            batch.append(head)
            if budget <= 0:
                break
        return batch

    def _show_waiting(self) -> None:
        """Blocked where a prompt waits for memory that transfers hold; idle otherwise."""
        self.usage.enter(BLOCKED if self.queue and self.transfers else IDLE, self.env._now)
