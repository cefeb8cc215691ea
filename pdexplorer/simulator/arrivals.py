"""Requests coming in: at their times, or a fixed number in flight."""

from array import array
from collections.abc import Callable

import numpy as np
import simpy

from pdexplorer.simulator.events import Call
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.workload.requests import Requests


class Source:
    """Makes each request as it arrives and hands it on hop_s later.

    Open loop: at the requests' own times. Closed loop: `concurrency` at time 0, then one as each leaves.
    """

    def __init__(
        self,
        env: simpy.Environment,
        requests: Requests,
        deliver: Callable[[Sequence], None],
        hop_s: float,
        concurrency: int | None,
        traced: tuple[int, ...] = (),
    ) -> None:
        self.env = env
        self.deliver = deliver
        self.hop_s = hop_s
        self.traced = frozenset(traced)
        self.closed = concurrency is not None
        self.arrival_s = array("d", requests.arrival_s.astype(float).tobytes())
        self.input_tokens, self.cached_tokens, self.output_tokens = (
            array("q", column.astype(np.int64).tobytes())
            for column in (requests.input_tokens, requests.cached_tokens, requests.output_tokens)
        )
        self.last_arrival_s = self.arrival_s[-1] if self.arrival_s and not self.closed else 0.0
        self.next = 0
        self.total = len(self.arrival_s)
        if concurrency is None:
            self._on_time = (self._arrive,)
            if self.total:
                Call(env, self.arrival_s[0] + hop_s, self._on_time)
        else:
            for _ in range(min(concurrency, self.total)):
                self._release()

    def left(self) -> None:
        """A request has left the fleet."""
        if self.closed and self.next < self.total:
            self._release()

    def _make(self, row: int, arrival_s: float) -> Sequence:
        sequence = Sequence(
            row, arrival_s, self.input_tokens[row], self.cached_tokens[row], self.output_tokens[row]
        )
        if self.traced and row in self.traced:
            sequence.token_s, sequence.spans = [], []
        return sequence

    def _arrive(self, event: Call) -> None:
        row = self.next
        self.next = following = row + 1
        if following < self.total:
            event.again(self.env, self.arrival_s[following] + self.hop_s)
        self.deliver(self._make(row, self.arrival_s[row]))

    def _release(self) -> None:
        sequence = self._make(self.next, self.env.now)
        self.next += 1
        # Delivered by an event of its own: a request that leaves at once must not recurse into the next.
        due_s = self.env.now + self.hop_s
        Call(self.env, due_s, (lambda event: self.deliver(sequence),))
