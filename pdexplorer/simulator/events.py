"""Light events on SimPy's queue: a callback at a time, without a process behind it."""

from collections.abc import Callable
from typing import Any

import simpy
from simpy.events import Event, EventPriority

AFTER_ARRIVALS = EventPriority(2)
"""Steps end and begin after everything else at the same time: a request that arrives at a step's boundary
is in.
"""

NORMAL = EventPriority(1)


class Call(Event):
    """callback(event) at a time, or now if that has passed; event.payload is the caller's.

    A caller that changes its mind ignores the event when it comes.
    """

    def __init__(
        self,
        env: simpy.Environment,
        time_s: float,
        callback: Callable[["Call"], None],
        priority: EventPriority = NORMAL,
        payload: Any = None,
    ) -> None:
        # What Event.__init__, succeed and Timeout would set: triggered at once, processed at its time.
        self.env = env
        self.callbacks = [callback]
        self._ok = True
        self._value = None
        self.payload = payload
        delay = time_s - env._now
        env.schedule(self, priority, delay if delay > 0.0 else 0.0)


def alone_now(env: simpy.Environment) -> bool:
    """Whether nothing else happens at this time, so that what waits for the rest of it need not."""
    return env.peek() > env._now
