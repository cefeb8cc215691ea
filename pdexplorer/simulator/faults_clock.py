"""Faults at their times, told to whoever they hit; what the link suffers from now."""

import math
import random
from collections.abc import Sequence
from typing import Protocol

import simpy

from pdexplorer.simulator.events import Call
from pdexplorer.simulator.fault import Fault


class Struck(Protocol):
    """A fleet that faults hit."""

    def went_down(self, pool: str, instance: int) -> None: ...

    def came_up(self, pool: str, instance: int) -> None: ...

    def drained(self, pool: str, instance: int) -> None: ...

    def link_changed(self, rate_fraction: float) -> None: ...

    def door_closed(self, until_s: float) -> None: ...


class Calendar:
    """Schedules every fault; overlapping ones on the link multiply rates and add jitter."""

    def __init__(self, env: simpy.Environment, faults: Sequence[Fault], fleet: Struck) -> None:
        self.env = env
        self.fleet = fleet
        self.active: list[Fault] = []
        self.faults = tuple(faults)
        self.draws = random.Random(0)
        for fault in faults:
            Call(env, fault.start_s, (self._begin,), payload=fault)
            if not math.isinf(fault.end_s):
                Call(env, fault.end_s, (self._end,), payload=fault)

    def returns(self, *pools: str) -> bool:
        """Whether an instance of these pools will come back."""
        return any(
            fault.kind in ("down", "drain")
            and (not pools or fault.pool in pools)
            and self.env.now < fault.end_s < math.inf
            for fault in self.faults
        )

    def jitter_s(self) -> float:
        """Extra time of a transfer that ends now."""
        mean_s = sum(fault.jitter_s for fault in self.active)
        return self.draws.expovariate(1.0 / mean_s) if mean_s > 0.0 else 0.0

    def transfer_fails(self) -> bool:
        """Whether a transfer that ends now is lost."""
        held = 1.0
        for fault in self.active:
            held *= 1.0 - fault.failure_fraction
        return held < 1.0 and self.draws.random() >= held

    @property
    def rate_fraction(self) -> float:
        """Share of the link's rates that is left."""
        return math.prod(fault.rate_fraction for fault in self.active)

    def _begin(self, event: Call) -> None:
        fault: Fault = event.payload
        self.active.append(fault)
        if fault.kind == "down":
            self.fleet.went_down(fault.pool, fault.instance)
        elif fault.kind == "drain":
            self.fleet.drained(fault.pool, fault.instance)
        elif fault.kind == "router_down":
            self.fleet.door_closed(fault.end_s)
        elif fault.kind == "slow_link":
            self.fleet.link_changed(self.rate_fraction)

    def _end(self, event: Call) -> None:
        fault: Fault = event.payload
        self.active.remove(fault)
        if fault.kind in ("down", "drain"):
            self.fleet.came_up(fault.pool, fault.instance)
        elif fault.kind == "slow_link":
            self.fleet.link_changed(self.rate_fraction)
