"""The same engine one step at a time, as plainly as it can be written: the macro engine must equal it.

Shares nothing that advances time or counts tokens with pdexplorer.simulator.engine: every step goes over
every sequence, sums contexts, takes blocks and notes each gap.
"""

from dataclasses import dataclass

from pdexplorer.simulator.events import AFTER_ARRIVALS, Call
from pdexplorer.simulator.sequence import LEFT, WAITING
from pdexplorer.simulator.usage import BLOCKED, BUSY, IDLE, InstanceUsage
from tests.simulator.reference_step import step_s


@dataclass(eq=False)
class Running:
    sequence: object
    held: int  # blocks
    past: int = 0
    target: int = 0
    context: int | None = None  # what the next decode iteration reads; None while it prefills
    last_token_s: float | None = None


class DecodeView:
    def __init__(self):
        self.size = 0


class StepEngine:
    def __init__(self, env, spec, gaps, on_finish, on_room=None):
        self.env, self.spec, self.timer, self.gaps = env, spec, spec.timer, gaps
        self.on_finish, self.on_room = on_finish, on_room
        self.free = spec.kv_blocks
        self.waiting, self.running, self.arrived = [], [], []
        self.inbound = self.in_transfer = 0
        self.usage = InstanceUsage()
        self.event = None
        self.step = None
        self.start_s = 0.0
        self.notify = False
        self.on_admit = self.on_prefilled = self.on_reserve = self.on_drop = self.shared_blocks = None
        self.kv_block_tokens = spec.block_tokens
        self.low = spec.kv_blocks
        self.filling = False

    @property
    def decodes(self):
        view = DecodeView()
        view.size = sum(each.context is not None for each in self.running)
        return view

    def blocks(self, tokens):
        return (tokens + self.spec.block_tokens - 1) // self.spec.block_tokens

    def charge(self, blocks):
        self.take(blocks)

    def needed(self, sequence, tokens):
        """Blocks beyond those others here hold."""
        return self.blocks(tokens) - (self.shared_blocks(sequence) if self.shared_blocks else 0)

    def take(self, blocks):
        self.free -= blocks
        self.low = min(self.low, self.free)

    def kv_low_blocks(self):
        low, self.low = self.low, self.free
        return low

    def unreserve(self, sequence, context):
        self.free += self.blocks(context - 1)
        self.inbound -= 1
        sequence.reserved = False
        if self.on_drop is not None:
            self.on_drop(sequence)
        if self.waiting:
            self.wake()

    def evacuate(self):
        """Sequences with the tokens of whole steps; the step under way is lost."""
        now_s = self.env.now
        if self.step is not None:
            self.account(now_s)
        lost = []
        for each in self.running:
            sequence = each.sequence
            if each.context is not None:
                sequence.generated = each.context - sequence.input_tokens
                sequence.last_token_s = float("nan") if each.last_token_s is None else each.last_token_s
            lost.append(sequence)
        for sequence in self.arrived:
            sequence.last_token_s = sequence.first_token_s
            lost.append(sequence)
        lost += self.waiting
        for sequence in lost:
            sequence.state = WAITING
            sequence.reserved = False
        self.free = self.low = self.spec.kv_blocks
        self.waiting, self.running, self.arrived = [], [], []
        self.inbound = self.in_transfer = 0
        self.event = self.step = None
        self.notify = False
        self.usage.enter(BUSY, now_s)
        self.usage.enter(IDLE, now_s)
        return lost

    def admits(self, blocks):
        empty = self.free == self.spec.kv_blocks
        return blocks <= self.free - self.spec.watermark_blocks or (empty and blocks <= self.free)

    def submit(self, sequence):
        self.waiting.append(sequence)
        self.wake()

    def reserve(self, sequence, context):
        blocks = self.needed(sequence, context - 1)
        if self.waiting or len(self.running) + self.inbound >= self.spec.max_batch or not self.admits(blocks):
            return False
        self.take(blocks)
        self.inbound += 1
        sequence.reserved = True
        if self.on_reserve is not None:
            self.on_reserve(sequence)
        return True

    def receive(self, sequence):
        self.arrived.append(sequence)
        self.wake()

    def show_waiting(self):
        if self.step is None:
            self.usage.enter(BLOCKED if self.in_transfer else IDLE, self.env.now)

    def kv_blocks_held(self, now_s):
        return self.spec.kv_blocks - self.free

    def close(self, now_s):
        if self.step is not None:
            self.account(now_s)
        self.usage.enter(BUSY, now_s)

    def wake(self):
        if self.event is None:
            self.event = Call(self.env, self.env.now, (self.turn,), AFTER_ARRIVALS)

    def account(self, now_s):
        share = self.step[2]
        self.usage.prefill_busy_s += (now_s - self.start_s) * share
        self.usage.decode_busy_s += (now_s - self.start_s) * (1 - share)

    def turn(self, event):
        if event is not self.event:
            return
        now_s = self.env.now
        if self.step is not None:
            self.account(now_s)
            self.end_of_step(now_s)
        for sequence in self.arrived:
            self.inbound -= 1
            context = sequence.input_tokens + sequence.generated
            last = sequence.first_token_s if sequence.generated else None
            self.running.append(
                Running(sequence, self.blocks(context - 1), context=context, last_token_s=last)
            )
        self.arrived = []
        chunks, decoders = self.plan()
        if chunks or decoders:
            for each, _ in chunks:
                if each.sequence.prefill_start_s != each.sequence.prefill_start_s:
                    each.sequence.prefill_start_s = now_s
            duration, share = step_s(self.timer, chunks, decoders)
            self.step = (chunks, decoders, share)
            self.start_s = now_s
            self.usage.enter(BUSY, now_s)
            self.event = Call(self.env, now_s + duration, (self.turn,), AFTER_ARRIVALS)
        else:
            self.step = self.event = None
            self.usage.enter(BLOCKED if self.in_transfer else IDLE, now_s)
        if self.notify:
            self.notify = False
            if self.on_room is not None:
                self.on_room()

    def plan(self):
        policy = self.spec.policy
        if policy == "chunked":
            decoders = self.grow()
            return self.fill(self.spec.chunk_tokens - len(decoders)), decoders
        if policy == "static":
            if not self.running:
                self.filling = True
            chunks = self.fill(self.spec.chunk_tokens) if self.filling else []
            self.filling = self.filling and bool(chunks)
            return (chunks, []) if chunks else ([], self.grow())
        chunks = self.fill(self.spec.chunk_tokens, whole=policy == "unchunked")
        if chunks:
            return chunks, []
        return [], self.grow()

    def grow(self):
        """Each decoding sequence's block for the next iteration; the latest admitted make way."""
        while True:
            decoders = [each for each in self.running if each.context is not None]
            need = sum(self.blocks(each.context) - each.held for each in decoders)
            if need <= self.free:
                break
            victim = self.running.pop()
            self.free += victim.held
            sequence = victim.sequence
            if victim.context is not None:
                sequence.generated = victim.context - sequence.input_tokens
                sequence.last_token_s = float("nan") if victim.last_token_s is None else victim.last_token_s
            sequence.state = WAITING
            sequence.preemptions += 1
            if self.on_drop is not None:
                self.on_drop(sequence)
            self.waiting.insert(0, sequence)
        for each in decoders:
            grown = self.blocks(each.context)
            self.take(grown - each.held)
            each.held = grown
        return decoders

    def fill(self, budget, whole=False):
        chunks = []
        for each in self.running:
            if each.context is None and budget > 0:
                new = min(budget, each.target - each.past)
                chunks.append((each, new))
                budget -= new
        while budget > 0 and self.waiting:
            head = self.waiting[0]
            target = head.input_tokens + head.generated
            new = target - head.cached_tokens
            blocks = self.needed(head, target)
            if whole and chunks and new > budget:
                break
            if len(self.running) + self.inbound >= self.spec.max_batch or not self.admits(blocks):
                break
            self.waiting.pop(0)
            self.notify = self.notify or not self.waiting
            head.past_tokens = head.cached_tokens
            if self.on_admit is not None:
                self.on_admit(head)
            self.take(blocks)
            new = target - head.past_tokens
            each = Running(head, self.blocks(target), past=head.past_tokens, target=target)
            self.running.append(each)
            if not whole:
                new = min(budget, new)
            chunks.append((each, new))
            budget -= new
        return chunks

    def end_of_step(self, now_s):
        chunks, decoders, _ = self.step
        leaving = []
        for each in (*decoders, *(each for each, new in chunks if each.past + new == each.target)):
            if each.sequence.token_s is not None:
                each.sequence.token_s.append(now_s)
        for each in decoders:
            each.context += 1
            if each.last_token_s is None:
                each.sequence.first_token_s = now_s
            else:
                self.gaps.add(now_s - each.last_token_s, 1)
            each.last_token_s = now_s
            if each.context == each.sequence.input_tokens + each.sequence.output_tokens:
                leaving.append(each)
        for each, new in chunks:
            each.past += new
            if each.past < each.target:
                continue
            sequence = each.sequence
            sequence.generated += 1
            each.context = each.target + 1
            each.last_token_s = now_s
            if sequence.prefill_end_s != sequence.prefill_end_s:
                sequence.prefill_end_s = now_s
            if self.on_prefilled is not None:
                self.on_prefilled(sequence)
            before = sequence.last_token_s
            if sequence.generated == 1:
                sequence.first_token_s = now_s
            else:
                self.gaps.add(now_s - before, 1)
            if sequence.generated == sequence.output_tokens:
                leaving.append(each)
        for each in leaving:
            self.running.remove(each)
            self.free += each.held
            each.sequence.generated = each.sequence.output_tokens
            each.sequence.state = LEFT
            self.notify = True
            self.on_finish(each.sequence)
