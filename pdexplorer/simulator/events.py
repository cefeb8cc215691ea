"""Light events on SimPy's queue: a callback at a time, without a process behind it."""

from collections.abc import Callable

import simpy
from simpy.events import Event, EventPriority

AFTER_ARRIVALS = EventPriority(2)
"""Steps end and begin after everything else at the same time: a request that arrives at a step's boundary
is in.
"""

_NORMAL = EventPriority(1)


def call_at(
    env: simpy.Environment,
    time_s: float,
    callback: Callable[[Event], None],
    priority: EventPriority = _NORMAL,
) -> Event:
    """Schedule callback(event) at that time. A caller that changes its mind ignores the event when it
    comes.
    """
    event = Event(env)
    event._ok = True
    event._value = None
    event.callbacks.append(callback)
    delay = time_s - env._now
    env.schedule(event, priority, delay if delay > 0.0 else 0.0)
    return event
