"""Where each instance's time goes: prefill, decode, blocked by transfers, idle, and off in scaled pools;
nothing else and no remainder.
"""

from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IDLE, BLOCKED, BUSY, OFF = range(4)


class InstanceUsage:
    """Of one instance. Waiting is kept as intervals, start and end in turn; busy time is added as each
    step ends.
    """

    __slots__ = ("blocked", "decode_busy_s", "idle", "off", "prefill_busy_s", "since_s", "state")

    def __init__(self) -> None:
        self.prefill_busy_s = 0.0
        self.decode_busy_s = 0.0
        self.idle = array("d")
        self.blocked = array("d")
        self.off = array("d")
        self.state = IDLE
        self.since_s = 0.0

    def enter(self, state: int, now_s: float) -> None:
        """Close what the instance was waiting in; busy time is the engine's to add."""
        before = self.state
        if state == before:
            return
        if before != BUSY and now_s > self.since_s:
            intervals = self.idle if before == IDLE else self.blocked if before == BLOCKED else self.off
            intervals.append(self.since_s)
            intervals.append(now_s)
        self.state = state
        self.since_s = now_s


@dataclass(frozen=True, eq=False)
class PoolUsage:
    """Of one pool: arrays over its instances, and the waiting intervals (instance, start, end) they come
    from.

    prefill_busy + decode_busy + transfer_blocked + idle intervals + off = instances × simulated time. off_s:
    of instances that a scaled pool had given back; all else is paid for.
    """

    instances: int
    prefill_busy_s: NDArray[np.float64]
    decode_busy_s: NDArray[np.float64]
    transfer_blocked_s: NDArray[np.float64]
    idle_instance: NDArray[np.int64]
    idle_start_s: NDArray[np.float64]
    idle_end_s: NDArray[np.float64]
    off_s: NDArray[np.float64]

    @property
    def idle_s(self) -> NDArray[np.float64]:
        """Idle time of each instance, from the recorded intervals."""
        idle_s = np.zeros(self.instances)
        np.add.at(idle_s, self.idle_instance, self.idle_end_s - self.idle_start_s)
        return idle_s


def pool_usage(usages: list[InstanceUsage]) -> PoolUsage:
    """The pool's arrays, once the replay has ended and every usage was closed."""
    idle = [np.array(usage.idle).reshape(-1, 2) for usage in usages]
    blocked = [np.array(usage.blocked).reshape(-1, 2) for usage in usages]
    off = [np.array(usage.off).reshape(-1, 2) for usage in usages]
    starts_and_ends = np.concatenate(idle)
    return PoolUsage(
        instances=len(usages),
        prefill_busy_s=np.array([usage.prefill_busy_s for usage in usages]),
        decode_busy_s=np.array([usage.decode_busy_s for usage in usages]),
        transfer_blocked_s=np.array([float((each[:, 1] - each[:, 0]).sum()) for each in blocked]),
        idle_instance=np.repeat(np.arange(len(usages)), [len(each) for each in idle]),
        idle_start_s=starts_and_ends[:, 0],
        idle_end_s=starts_and_ends[:, 1],
        off_s=np.array([float((each[:, 1] - each[:, 0]).sum()) for each in off]),
    )
