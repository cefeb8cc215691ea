"""Light events on SimPy's queue: a callback at a time, without a process behind it."""

import gc
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import simpy
from simpy.events import PENDING, EventPriority

AFTER_ARRIVALS = EventPriority(2)
"""Steps end and begin after everything else at the same time: a request that arrives at a step's boundary
is in.
"""

NORMAL = EventPriority(1)


class Call:
    """Calls back at a time, or now if that has passed, with itself; payload is the caller's.

    It is what SimPy's loop needs of an event and no more: a replay makes about ten a request. callbacks is
    usually a tuple made once by whoever calls often. A caller that changes its mind ignores the call when it
    comes.
    """

    __slots__ = ("callbacks", "payload")
    _ok = True

    def __init__(
        self,
        env: simpy.Environment,
        time_s: float,
        callbacks: tuple[Callable[["Call"], None]],
        priority: EventPriority = NORMAL,
        payload: Any = None,
    ) -> None:
        self.callbacks = callbacks
        self.payload = payload
        # What env.schedule does, without the calls in between.
        due_s = time_s if time_s > env._now else env._now
        heappush(env._queue, (due_s, priority, next(env._eid), self))  # type: ignore[misc]

    def again(self, env: simpy.Environment, time_s: float, priority: EventPriority = NORMAL) -> None:
        """Call back once more, at that time or later than now; only by whom it has just called back."""
        heappush(env._queue, (time_s, priority, next(env._eid), self))  # type: ignore[misc]


def alone_now(env: simpy.Environment) -> bool:
    """Whether nothing else happens at this time, so that what waits for the rest of it need not."""
    queue = env._queue
    return not queue or bool(queue[0][0] > env._now)


def run_calls(env: simpy.Environment, stopped: simpy.Event) -> None:
    """Run until the event `stopped` has been triggered. All else on the queue must be a Call.

    The garbage collector rests meanwhile: a replay makes no cycles, and looking for them through all that is
    loaded takes a few percent of a short one.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        _run(env, stopped)
    finally:
        if collects:
            gc.enable()


def _run(env: simpy.Environment, stopped: simpy.Event) -> None:
    queue = env._queue
    while stopped._value is PENDING:  # what `triggered` looks at
        env._now, _, _, event = heappop(queue)
        event.callbacks[0](event)
