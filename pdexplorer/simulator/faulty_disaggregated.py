"""What faults do to a disaggregated fleet: who starts again, where, and with what.

A prefill instance dies: prompts it had, KV it still held and transfers from it are lost; those prompts go to
another one, or stay local where no prefill instance is left. A decode instance dies: what it decoded is
recomputed, answers so far included, on another decode instance; KV still on the prefill side is sent there.
A transfer that fails is sent again, then the decode side recomputes the prompt. No request is lost.
"""

from collections import Counter, deque
from typing import Any

from pdexplorer.simulator.events import NORMAL, Call
from pdexplorer.simulator.faults_clock import Calendar
from pdexplorer.simulator.managed_disaggregated import ManagedDisaggregated
from pdexplorer.simulator.records import UNFINISHED
from pdexplorer.simulator.scaling import ScaledPool, Scaler, pressure_of
from pdexplorer.simulator.sequence import NAN, WAITING, Sequence


class FaultyDisaggregated(ManagedDisaggregated):
    """The managed fleet with a calendar of faults."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.failures: Counter[int] = Counter()
        self.own_queues = [instance.queue for instance in self.prefills]
        scaling = self.options.scaling
        # With these, one event may send an instance several requests.
        eager = not self.options.faults and scaling is None
        for instance in self.prefills:
            instance.eager = eager
        for engine in self.engines:
            engine.eager = eager
        self.calendar = Calendar(self.env, self.options.faults, self)
        if scaling is not None:
            prefill = ScaledPool(
                "prefill",
                self.prefill_router,
                [instance.usage for instance in self.prefills],
                self._prefill_pressure,
                self._prefill_empty,
                scaling.prefill_instances,
            )
            decode = ScaledPool(
                "decode",
                self.decode_router,
                [engine.usage for engine in self.engines],
                lambda number: pressure_of(self.engines[number], self.decode, self.env.now),
                lambda number: self.decode_router.load[number] == 0.0,
                scaling.decode_instances,
            )
            self.scaler = Scaler(self.env, scaling, (prefill, decode), self)

    def _prefill_pressure(self, number: int) -> float:
        return 1.0 - self.prefills[number].free_blocks / max(1, self.prefill.kv_blocks)

    def _prefill_empty(self, number: int) -> bool:
        instance = self.prefills[number]
        return self.prefill_router.load[number] == 0.0 and instance.free_blocks == self.prefill.kv_blocks

    # --- the calendar's calls ---

    def went_down(self, pool: str, instance: int) -> None:
        """An instance dies with everything on it."""
        if pool == "prefill":
            self._prefill_down(instance % len(self.prefills))
        else:
            self._decode_down(instance % len(self.engines))

    def drained(self, pool: str, instance: int) -> None:
        """Nothing new is sent to an instance."""
        if pool != "prefill":
            self.decode_router.set_open(instance % len(self.engines), False)
            return
        number = instance % len(self.prefills)
        self.prefill_router.set_open(number, False)
        if self.central:
            self.prefills[number].queue = deque()

    def came_up(self, pool: str, instance: int) -> None:
        """It takes requests again; those that found nobody go first."""
        if pool == "prefill":
            number = instance % len(self.prefills)
            self.prefill_router.set_open(number, True)
            prefill = self.prefills[number]
            prefill.down = False
            prefill.queue = self.own_queues[number]
            prefill.attend()
        else:
            self.decode_router.set_open(instance % len(self.engines), True)
            homeless, self.pending[-1] = self.pending[-1], deque()
            for sequence in homeless:
                self._pend(sequence)
        waiting, self.stranded = self.stranded, deque()
        for sequence in waiting:
            self._restart(sequence)

    def link_changed(self, rate_fraction: float) -> None:
        """All ports carry that share of their rates."""
        self.link.scale(rate_fraction)

    def door_closed(self, until_s: float) -> None:
        """The router is away."""
        self.door_opens_s = max(self.door_opens_s, until_s)

    # --- a prefill instance dies ---

    def _prefill_down(self, number: int) -> None:
        instance = self.prefills[number]
        self.prefill_router.set_open(number, False)
        instance.down = True
        computing = instance.evacuate()
        queued: list[Sequence] = []
        if self.central:
            instance.queue = deque()
        else:
            queued = list(instance.queue)
            instance.queue.clear()
        fetching = [each for each in self.fetching.values() if each.prefill_instance == number]
        if not self.central:
            for sequence in (*computing, *queued, *fetching):
                self.prefill_router.change(number, -sequence.load)
        held = [each for each in self.transit.values() if each.prefill_instance == number]
        for sequence in held:
            self._abort(sequence)
        for index, waiting in enumerate(self.pending):
            lost = [each for each in waiting if each.prefill_instance == number]
            if lost:
                held += lost
                self.pending[index] = deque(each for each in waiting if each.prefill_instance != number)
        if self.prefill_caches is not None:
            self.prefill_caches.clear(number)
        again = {each.index: each for each in (*held, *computing, *queued, *fetching)}
        for sequence in again.values():
            self.fetching.pop(sequence.index, None)
            if self.prefill_backlog is not None:
                self.prefill_backlog.done(sequence)
            self._leave_decode(sequence)
            sequence.prefill_instance = -1
            sequence.prefill_end_s = sequence.transfer_start_s = NAN
            sequence.past_tokens = sequence.cached_tokens
            sequence.last_token_s = sequence.first_token_s
            self._retry(sequence)
        for index in range(len(self.engines)):
            self._send_pending(index)

    # --- a decode instance dies ---

    def _decode_down(self, number: int) -> None:
        self.decode_router.set_open(number, False)
        engine = self.engines[number]
        lost = engine.evacuate()
        lost += [
            each
            for each in self.fetching.values()
            if each.prefill_instance < 0 and each.decode_instance == number
        ]
        if self.decode_caches is not None:
            self.decode_caches.clear(number)
        coming = [each for each in self.transit.values() if each.decode_instance == number]
        for sequence in coming:
            self._abort(sequence, reserved=False)
        homeless = [each for each in coming if each.prefill_end_s == each.prefill_end_s]
        if not self.decode_router.open and not self.calendar.returns("decode"):
            self._stop()  # nothing can finish any more
        homeless += self.pending[number]
        self.pending[number].clear()
        here = {sequence.index for sequence in lost}
        for sequence in lost:
            self.fetching.pop(sequence.index, None)
            if self.decode_backlog is not None:
                self.decode_backlog.done(sequence)
            self._leave_decode(sequence)
            self._retry(sequence)
        for sequence in self.inside.values():
            if sequence.decode_instance == number and sequence.index not in here:
                self._leave_decode(sequence)
        for sequence in homeless:
            sequence.retries += 1
            self._pend(sequence)

    # --- a transfer fails ---

    def _sent(self, sequence: Sequence) -> None:
        if sequence.prefill_end_s != sequence.prefill_end_s:
            return  # NaN: the layers so far have arrived, the last is still computed
        sequence.transfer_end_s = end_s = self.env._now + self.latency_s + self.calendar.jitter_s()
        Call(self.env, end_s + self.decode_hop_s, self._on_received, NORMAL, (sequence, sequence.flow))

    def _received(self, event: Call) -> None:
        sequence, flow = event.payload
        if sequence.flow is not flow or flow.cancelled:
            return  # an instance died since
        if not self.calendar.transfer_fails():
            self._deliver(sequence)
            return
        self.failures[sequence.index] += 1
        sequence.retries += 1
        sequence.transfer_end_s = NAN
        if self.failures[sequence.index] <= self.options.transfer_retries:
            self.link.send(self._flow(sequence, self.kv_bytes[sequence.index]))
            return
        prefill = self.prefills[sequence.prefill_instance]
        self._abort(sequence)
        prefill.release(sequence)
        sequence.last_token_s = sequence.first_token_s
        self.engines[sequence.decode_instance].submit(sequence)

    # --- parts ---

    def _strand(self, sequence: Sequence) -> None:
        """Wait for an instance to return; where none will, the request is lost."""
        if self.calendar.returns() or self.options.scaling is not None:
            self.stranded.append(sequence)
        else:
            del self.inside[sequence.index]
            self._leave(sequence, UNFINISHED, NAN)

    def _start(self, event: Call) -> None:
        if not event.payload.cancelled:
            super()._start(event)

    def _abort(self, sequence: Sequence, reserved: bool = True) -> None:
        """Give up its transfer, and the memory reserved for it."""
        del self.transit[sequence.index]
        if sequence.flow is not None:
            self.link.cancel(sequence.flow)
            sequence.flow = None
        moving = sequence.prefill_end_s == sequence.prefill_end_s
        engine = self.engines[sequence.decode_instance]
        if reserved:
            engine.unreserve(sequence, sequence.input_tokens + self.first_tokens)
            if moving:
                engine.in_transfer -= 1
                engine.show_waiting()
        sequence.reserved = False
        sequence.transfer_start_s = sequence.transfer_end_s = NAN
        prefill = self.prefills[sequence.prefill_instance]
        if moving and not prefill.down:
            prefill.moving(-1)

    def _leave_decode(self, sequence: Sequence) -> None:
        if sequence.decode_instance >= 0:
            self.decode_router.change(sequence.decode_instance, -1.0)
            sequence.decode_instance = -1

    def _pend(self, sequence: Sequence) -> None:
        """Its KV waits on the prefill side for a decode instance with room."""
        index = self._choose_decode(sequence)
        self.pending[index].append(sequence)
        self._send_pending(index)

    def _retry(self, sequence: Sequence) -> None:
        sequence.retries += 1
        sequence.state = WAITING
        sequence.fetched_tokens = 0
        due_s = self.env.now + self.options.retry_after_s + self.hop_s
        Call(self.env, due_s, (lambda event: self._restart(sequence),))

    def _restart(self, sequence: Sequence) -> None:
        """Prompts without KV take the usual way; decodes that lost theirs are recomputed where they go on."""
        if sequence.prefill_end_s != sequence.prefill_end_s:
            self._route(sequence)
            return
        index = self.decode_router.choose(self._blocks(sequence))
        if index < 0:
            self._strand(sequence)
            return
        self._take_decode(index, sequence)
        self.engines[index].submit(sequence)
