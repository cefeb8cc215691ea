"""Who is on an instance, and the KV memory they hold: admission, growth, preemption.

Conventions. A decode iteration over a sequence reads `context` tokens, the one fed included; before it the
sequence holds blocks for context − 1 of them. A prompt's blocks are taken at admission, cached ones too.
Preemption takes the latest admitted, frees its blocks and puts it at the head of the queue, to prefill
prompt and generated tokens again.
"""

from collections import deque
from collections.abc import Callable

import simpy

from pdexplorer.simulator.batch import DecodeBatch
from pdexplorer.simulator.events import Call
from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.kv import BlockPool
from pdexplorer.simulator.sequence import DECODING, WAITING, Chunk, Sequence
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.stretch import steps_until
from pdexplorer.simulator.usage import BUSY, InstanceUsage


class Residents:
    """State of one instance, and what of it does not move time. on_finish(sequence) comes as a sequence
    leaves, on_room() after KV was freed.
    """

    __slots__ = (
        "admissions",
        "admitted",
        "ahead",
        "arrived",
        "base_s",
        "chunk_tokens",
        "chunks",
        "coming",
        "company",
        "company_steps",
        "decodes",
        "decodes_wait",
        "decoding",
        "due",
        "eager",
        "env",
        "filling",
        "freed",
        "gaps",
        "held_from",
        "in_transfer",
        "inbound",
        "kv",
        "kv_block_tokens",
        "max_batch",
        "on_admit",
        "on_drop",
        "on_finish",
        "on_prefilled",
        "on_reserve",
        "on_room",
        "partial",
        "prefill_share",
        "prefilling",
        "ramp_s",
        "running",
        "shared_blocks",
        "start_s",
        "step_end",
        "steps",
        "timer",
        "usage",
        "waiting",
        "window",
    )

    def __init__(
        self,
        env: simpy.Environment,
        spec: EngineSpec,
        gaps: GapHistogram,
        on_finish: Callable[[Sequence], None],
        on_room: Callable[[], None] | None = None,
    ) -> None:
        self.env = env
        self.timer = spec.timer
        self.window = spec.timer.window_tokens
        self.max_batch = spec.max_batch
        self.chunk_tokens = spec.chunk_tokens
        self.filling = False  # of static batches
        self.decodes_wait = spec.policy != "chunked"
        self.gaps = gaps
        self.kv_block_tokens = spec.block_tokens
        self.kv = BlockPool(spec.kv_blocks, spec.block_tokens, spec.watermark_blocks)
        self.decodes = DecodeBatch(self.kv, self.window, gaps)
        self.on_finish = on_finish
        self.on_room = on_room
        # Of a prefix cache: KV blocks not charged, who comes (past_tokens may rise), who goes before its end.
        self.shared_blocks: Callable[[Sequence], int] | None = None
        self.on_admit: Callable[[Sequence], None] | None = None
        self.on_reserve: Callable[[Sequence], None] | None = None
        self.on_drop: Callable[[Sequence], None] | None = None
        self.on_prefilled: Callable[[Sequence], None] | None = None
        self.usage = InstanceUsage()

        self.waiting: deque[Sequence] = deque()
        self.ahead = spec.scheduled_ahead
        self.company = spec.company
        self.company_steps = spec.company_steps
        self.held_from: int | None = None  # iteration since when prompts wait for company
        self.due: list[Sequence] = []  # where steps are chosen ahead: these wait from the next step's end on,
        self.coming: list[Sequence] = []  # those that came since it was chosen a step later
        self.partial: Sequence | None = None
        self.arrived: list[Sequence] = []
        self.prefilling = 0  # admitted, prompt not done
        self.inbound = 0  # reserved here, still on their way
        self.in_transfer = 0  # of those, with prefill over

        self.admitted: dict[int, Sequence] = {}  # in order
        self.admissions = 0

        self.step_end: Call | None = None  # of the step now running, or of a start at this very time
        self.chunks: list[Chunk] = []
        self.decoding = False
        self.running = False
        self.start_s = 0.0
        self.steps = 0
        self.base_s = 0.0  # k iterations take k·base_s + k²·ramp_s
        self.ramp_s = 0.0
        self.prefill_share = 0.0
        self.freed = False
        self.eager = True  # may start at once where nothing else happens at this time

    def close(self, now_s: float) -> None:
        """End of the replay, or of the instance: account for the step now running up to here."""
        if self.running:
            self.account(now_s - self.start_s)
            self.running = False
        self.usage.enter(BUSY, now_s)

    def account(self, elapsed_s: float) -> None:
        """That much of the running step is over."""
        usage, share = self.usage, self.prefill_share
        if share:
            usage.prefill_busy_s += elapsed_s * share
        usage.decode_busy_s += elapsed_s * (1.0 - share)

    def kv_blocks_held(self, now_s: float) -> int:
        """Blocks in use now, those of the running iteration included."""
        held = self.kv.blocks - self.kv.free
        if self.running and self.decoding and self.decodes.size:
            held += self._taken(now_s)
        return held

    def kv_low_blocks(self) -> int:
        """Fewest blocks free since the last call."""
        kv = self.kv
        free = kv.blocks - self.kv_blocks_held(self.env._now)
        low = min(kv.low, free)
        kv.low = free
        return low

    def charge(self, blocks: int) -> None:
        """Take that many KV blocks, or give back a negative number."""
        if blocks < 0:
            self.note_low()
        self.kv.take(blocks)

    def note_low(self) -> None:
        """Before KV is given back within a stretch: what this one has taken so far counts."""
        self.kv.low = min(self.kv.low, self.kv.blocks - self.kv_blocks_held(self.env._now))

    def blocks_needed(self, sequence: Sequence, tokens: int) -> int:
        """KV blocks that many tokens of a sequence would take beyond those that others here hold."""
        blocks = -(-tokens // self.kv_block_tokens)
        return blocks if self.shared_blocks is None else blocks - self.shared_blocks(sequence)

    def running_sequences(self) -> int:
        """Sequences that count towards max_batch: decoding, prefilling, or reserved and on their way."""
        return self.decodes.size + self.prefilling + self.inbound

    def iterations_before(self, now_s: float) -> int:
        """Decode iterations of the running stretch that ended before now."""
        if not (self.decoding and self.decodes.size) or self.steps == 1:
            return 0
        return min(self.steps, self._steps_until(now_s)) - 1

    def _steps_until(self, now_s: float) -> int:
        return steps_until(now_s - self.start_s, self.base_s, self.ramp_s)

    def _taken(self, now_s: float) -> int:
        """Blocks that the iterations of the running stretch begun so far have taken."""
        begun = 1 if self.steps == 1 else min(self.steps, self._steps_until(now_s))
        return self.kv.taken(self.decodes.iteration, begun, self.decodes.size)

    def admit(self, sequence: Sequence) -> None:
        """Note the order of admission: the latest is preempted first."""
        sequence.admitted = self.admissions = self.admissions + 1
        self.admitted[self.admissions] = sequence

    def make_room(self) -> int:
        """Preempt until the next decode iteration's blocks fit; how many it will take."""
        kv, decodes = self.kv, self.decodes
        slot = decodes.iteration % kv.block_tokens
        due = kv.phase[slot]
        if due <= kv.free:
            return due
        while kv.phase[slot] > kv.free:
            _, victim = self.admitted.popitem()
            self._preempt(victim)
        decodes.drop_stale()
        return kv.phase[slot]

    def _preempt(self, victim: Sequence) -> None:
        if victim.state == DECODING:
            self.decodes.preempt(victim)
        else:
            self.partial = None
            self.prefilling -= 1
            self.kv.free += self.kv.blocks_of(victim.target_tokens)
        victim.state = WAITING
        victim.preemptions += 1
        if self.on_drop is not None:
            self.on_drop(victim)
        self.waiting.appendleft(victim)
