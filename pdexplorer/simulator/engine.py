"""One continuously batching instance: colocated, or of a decode pool.

Every step is either mixed (prefill chunks, with the decode batch along where the policy says so) or
decode-only. Decode-only stretches run as one macro-step: k iterations take k·A + B·(k·C + b·k(k−1)/2), C
being the batch's total context. A stretch ends where that stops holding or something changes: a sequence
finishes or reaches the window, KV blocks run out, or a request comes in that can be admitted (then at the
next iteration boundary).
"""

from collections.abc import Callable

import simpy

from pdexplorer.simulator.evacuation import evacuate
from pdexplorer.simulator.events import AFTER_ARRIVALS, Call, alone_now
from pdexplorer.simulator.gaps import GapHistogram
from pdexplorer.simulator.policies import POLICIES
from pdexplorer.simulator.residents import Residents
from pdexplorer.simulator.sequence import LEFT, Sequence
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.stretch import stretch_s
from pdexplorer.simulator.usage import BLOCKED, BUSY, IDLE
from pdexplorer.simulator.work import prefill_work


class Engine(Residents):
    """What moves one instance on: what comes in, and its steps."""

    __slots__ = ("_on_step", "choose_chunks")

    def __init__(
        self,
        env: simpy.Environment,
        spec: EngineSpec,
        gaps: GapHistogram,
        on_finish: Callable[[Sequence], None],
        on_room: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(env, spec, gaps, on_finish, on_room)
        self.choose_chunks = POLICIES[spec.policy]
        self._on_step = (self._step,)

    # --- what comes in ---

    def submit(self, sequence: Sequence) -> None:
        """A prompt to prefill and decode here."""
        if self.ahead and self.running:
            self.coming.append(sequence)
            if self.steps > 1:
                self._shorten(self._steps_until(self.env._now))
            return
        waiting = self.waiting
        waiting.append(sequence)
        if self.step_end is None:
            self._wake()
        elif self.steps > 1 and len(waiting) == 1 and self._may_admit(sequence):
            self._shorten(self._steps_until(self.env._now))

    def reserve(self, sequence: Sequence, context: int) -> bool:
        """Take KV for a sequence that will come with `context` − 1 tokens of it, if there is room."""
        kv = self.kv
        if self.waiting or self.running_sequences() >= self.max_batch:
            return False
        blocks = self.blocks_needed(sequence, context - 1)
        if self.running and self.decoding and self.decodes.size:
            # The running stretch takes blocks as it goes: those begun are gone, later ones may cut it short.
            most = (self.steps // kv.block_tokens + 1) * self.decodes.size
            if blocks + most > kv.free - kv.watermark:
                if blocks + self._taken(self.env.now) > kv.free - kv.watermark:
                    return False
                fit = kv.steps_that_fit(self.decodes.iteration, self.steps, self.decodes.size, blocks)
                self._shorten(fit)
            kv.take(blocks)
        elif kv.admits(blocks):
            kv.take(blocks)
        else:
            return False
        self.inbound += 1
        sequence.reserved = True
        if self.on_reserve is not None:
            self.on_reserve(sequence)
        return True

    def receive(self, sequence: Sequence) -> None:
        """A reserved sequence has arrived with its KV and decodes from the next iteration on."""
        self.arrived.append(sequence)
        if self.step_end is None:
            self._wake()
        elif self.steps > 1:
            self._shorten(self._steps_until(self.env._now))

    def unreserve(self, sequence: Sequence, context: int) -> None:
        """A reserved sequence will not come; its memory is free."""
        self.note_low()
        self.kv.free += self.kv.blocks_of(context - 1)
        self.inbound -= 1
        sequence.reserved = False
        if self.on_drop is not None:
            self.on_drop(sequence)
        if not self.waiting:
            return
        if self.step_end is None:
            self._wake()
        elif self.steps > 1 and self._may_admit(self.waiting[0]):
            self._shorten(self._steps_until(self.env._now))

    def evacuate(self) -> list[Sequence]:
        """The instance dies: every sequence here, oldest first, with the tokens it got; all KV is lost."""
        return evacuate(self)

    def show_waiting(self) -> None:
        """While no step runs: idle, or blocked where all that is pending here is in transfer."""
        if not self.running:
            self.usage.enter(BLOCKED if self.in_transfer else IDLE, self.env._now)

    def _may_admit(self, sequence: Sequence) -> bool:
        """Whether this waiting sequence could come in at the next boundary: never no where it could."""
        return (
            self.running_sequences() < self.max_batch
            and (self.decodes.size < self.chunk_tokens or self.decodes_wait)
            and self.kv.admits(self.blocks_needed(sequence, sequence.input_tokens + sequence.generated))
        )

    def _wake(self) -> None:
        """Start a step where none runs: now, or once all else at this time has happened."""
        if self.eager and alone_now(self.env):
            self._step(None)
        else:
            self.step_end = Call(self.env, self.env._now, self._on_step, AFTER_ARRIVALS)

    def _shorten(self, steps: int) -> None:
        if steps < self.steps:
            self.steps = steps
            end_s = self.start_s + stretch_s(steps, self.base_s, self.ramp_s)
            self.step_end = Call(self.env, end_s, self._on_step, AFTER_ARRIVALS)

    # --- steps ---

    def _step(self, event: Call | None) -> None:
        """A step ends here, or an idle instance was woken; start the next."""
        if event is not self.step_end:
            return  # the stretch was cut since
        now_s = self.env._now
        decodes = self.decodes
        if self.running:
            self.account(now_s - self.start_s)
            if self.ahead:
                self._look()
            if self.decoding and decodes.size:
                through = decodes.advance(self.steps, self.start_s, self.base_s, self.ramp_s, now_s)
                self.decoding = False  # its blocks are counted now
                if through:
                    self.freed = True
                    for sequence in through:
                        del self.admitted[sequence.admitted]
                        self.on_finish(sequence)
            if self.chunks:
                self._finish_chunks(now_s)
        if self.arrived:
            arrived, self.arrived = self.arrived, []
            for sequence in arrived:
                self.inbound -= 1
                self.admit(sequence)
                decodes.join(sequence, now_s)
        if self.coming and not (decodes.size or self.waiting or self.due or self.partial):
            self._look()
            self._look()
        self.chunks, self.decoding = self.choose_chunks(self)
        if self.chunks:
            self._start_mixed(now_s)
        elif decodes.size:
            self._start_decode(now_s)
        else:
            self.running = False
            self.steps = 0
            self.step_end = None
            self.usage.enter(BLOCKED if self.in_transfer else IDLE, now_s)
        if self.freed:
            self.freed = False
            if self.on_room is not None:
                self.on_room()

    def _look(self) -> None:
        """A step chosen ahead begins: who came before the last one did may be in the next."""
        self.waiting += self.due
        self.due, self.coming = self.coming, []

    def _start_mixed(self, now_s: float) -> None:
        for sequence, _ in self.chunks:
            if sequence.prefill_start_s != sequence.prefill_start_s:  # NaN: its first chunk
                sequence.prefill_start_s = now_s
        work = prefill_work(self.chunks, self.window)
        decodes = self.decodes
        batch = decodes.size if self.decoding else 0
        alone_s = self.timer.mixed_s(*work, 0, 0.0, 0.0)
        if batch == 0:
            self.prefill_share = 1.0
            self._run(now_s, 1, alone_s, 0.0)
            return
        context_sum, window_sum = float(decodes.context_sum), float(decodes.window_sum)
        a, full, windowed = self.timer.decode_coefficients(batch)
        decode_s = a + full * context_sum + windowed * window_sum
        self.prefill_share = alone_s / (alone_s + decode_s)
        self._run(now_s, 1, self.timer.mixed_s(*work, batch, context_sum, window_sum), 0.0)

    def _start_decode(self, now_s: float) -> None:
        decodes = self.decodes
        size = decodes.size
        a, full, windowed = self.timer.decode_coefficients(size)
        ramp = 0.5 * (full * size + windowed * (size if self.window is None else decodes.below_window))
        first_s = a + full * decodes.context_sum + windowed * decodes.window_sum
        self.prefill_share = 0.0
        steps = 1 if self.due or self.coming else decodes.steps_ahead()
        if self.held_from is not None:
            steps = min(steps, self.held_from + self.company_steps - decodes.iteration)
        self._run(now_s, steps, first_s - ramp, ramp)

    def _run(self, now_s: float, steps: int, base_s: float, ramp_s: float) -> None:
        if not self.running:
            self.running = True
            self.usage.enter(BUSY, now_s)
        self.start_s = now_s
        self.steps = steps
        self.base_s = base_s
        self.ramp_s = ramp_s
        end_s = now_s + steps * (base_s + steps * ramp_s)
        if self.step_end is None:
            self.step_end = Call(self.env, end_s, self._on_step, AFTER_ARRIVALS)
        else:
            self.step_end.again(self.env, end_s, AFTER_ARRIVALS)

    def _finish_chunks(self, now_s: float) -> None:
        for sequence, tokens in self.chunks:
            sequence.past_tokens += tokens
            if sequence.token_s is not None:
                sequence.spans.append(("prefill", self.start_s, now_s))
            if sequence.past_tokens == sequence.target_tokens:
                if sequence is self.partial:
                    self.partial = None
                self._prefilled(sequence, now_s)
            else:
                self.partial = sequence

    # --- a sequence's way ---

    def _prefilled(self, sequence: Sequence, now_s: float) -> None:
        self.prefilling -= 1
        sequence.generated += 1
        if sequence.prefill_end_s != sequence.prefill_end_s:  # NaN: not recomputed
            sequence.prefill_end_s = now_s
        if sequence.token_s is not None:
            sequence.token_s.append(now_s)
        if self.on_prefilled is not None:
            self.on_prefilled(sequence)
        if sequence.generated == 1:
            sequence.first_token_s = now_s
        else:
            self.gaps.add(now_s - sequence.last_token_s, 1)
        if sequence.generated == sequence.output_tokens:
            self.kv.free += self.kv.blocks_of(sequence.target_tokens)
            sequence.state = LEFT
            self.freed = True
            del self.admitted[sequence.admitted]
            self.on_finish(sequence)
        else:
            self.decodes.join(sequence, now_s)
