"""Light events on SimPy's queue: a callback at a time, without a process behind it."""

from collections.abc import Callable

import simpy
from simpy.events import Event, EventPriority

AFTER_ARRIVALS = EventPriority(2)
"""Steps end and begin after everything else at the same time: a request that arrives at a step's boundary
is in.
"""

_NORMAL = EventPriority(1)


class Call(Event):
    """An event that calls back at its time; who no longer wants it ignores it then."""

    def __init__(
        self,
        env: simpy.Environment,
        time_s: float,
        callback: Callable[[Event], None],
        priority: EventPriority,
    ) -> None:
        # What Event.__init__, succeed and Timeout would set: triggered at once, processed at its time.
        self.env = env
        self.callbacks = [callback]
        self._ok = True
        self._value = None
        delay = time_s - env._now
        env.schedule(self, priority, delay if delay > 0.0 else 0.0)


def call_at(
    env: simpy.Environment,
    time_s: float,
    callback: Callable[[Event], None],
    priority: EventPriority = _NORMAL,
) -> Event:
    """Schedule callback(event) at that time, or now if it has passed."""
    return Call(env, time_s, callback, priority)
