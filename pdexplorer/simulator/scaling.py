"""Pools that follow the load: autoscaled, or rebalanced by instances that change roles (Splitwise).

Every interval the pressure of each pool is looked at: the largest of its share of time in prefill, KV in use
and batch in use. An instance that goes is drained first and off once it is empty; one that comes takes
start_s, paid for, before it gets requests.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import simpy

from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.events import Call
from pdexplorer.simulator.pool import Pool
from pdexplorer.simulator.specs import EngineSpec
from pdexplorer.simulator.usage import IDLE, OFF, InstanceUsage


@dataclass(frozen=True)
class Scaling:
    """autoscaled: each pool between least_instances and the fleet's own count, which is then the most.
    rebalanced: an instance leaves one pool for the other, so their sum stays; both pools need the same
    hardware, and the fleet's counts are the most each may have.

    *_instances: how many are on at the start; None for all. Above high_fraction of pressure a pool grows,
    below low_fraction it shrinks; a pool gives an instance away while its own pressure is below
    high_fraction and the other's is above.
    Raises ValueError for values that mean nothing.
    """

    kind: Literal["autoscaled", "rebalanced"]
    prefill_instances: int | None = None
    decode_instances: int | None = None
    colocated_instances: int | None = None
    least_instances: int = 1
    interval_s: float = 15.0
    start_s: float = 60.0
    high_fraction: float = 0.8
    low_fraction: float = 0.4

    def __post_init__(self) -> None:
        if not 0.0 <= self.low_fraction < self.high_fraction <= 1.0:
            raise ValueError(
                f"scaling: low_fraction = {self.low_fraction:g}, high_fraction = {self.high_fraction:g}; "
                "allowed: 0 <= low < high <= 1"
            )
        if self.interval_s <= 0.0 or self.start_s < 0.0 or self.least_instances < 1:
            raise ValueError(
                f"scaling: interval_s = {self.interval_s:g}, start_s = {self.start_s:g}, least_instances = "
                f"{self.least_instances}; allowed: above 0 s, from 0 s, from 1"
            )


class Scaled(Protocol):
    """A fleet whose pools open and close."""

    def came_up(self, pool: str, instance: int) -> None: ...

    def drained(self, pool: str, instance: int) -> None: ...


def pressure_of(engine: Engine, spec: EngineSpec, now_s: float) -> float:
    """Share of its KV or of its batch that is in use, the larger."""
    held = engine.kv_blocks_held(now_s) / max(1, spec.kv_blocks)
    return max(held, engine.decodes.size / spec.max_batch, float(bool(engine.waiting)))


class ScaledPool:
    """One pool under control. pressure(instance) is of KV and batch now; empty(instance) whether it may go
    off.
    """

    def __init__(
        self,
        name: str,
        router: Pool,
        usages: Sequence[InstanceUsage],
        pressure: Callable[[int], float],
        empty: Callable[[int], bool],
        first: int | None,
    ) -> None:
        self.name = name
        self.router = router
        self.usages = usages
        self.now_fraction = pressure
        self.empty = empty
        self.first = len(usages) if first is None else first
        self.starting: set[int] = set()
        self.draining: list[int] = []
        self.off: list[int] = []
        self.busy_s = 0.0

    def on(self) -> list[int]:
        """Instances that take requests."""
        return [each for each in range(len(self.usages)) if self.router.is_open(each)]

    def pressure(self, interval_s: float) -> float:
        """Since the last look."""
        on = self.on()
        busy_s = sum(usage.prefill_busy_s for usage in self.usages)
        share = (busy_s - self.busy_s) / (max(1, len(on)) * interval_s)
        self.busy_s = busy_s
        now = sum(self.now_fraction(each) for each in on) / max(1, len(on))
        return max(share, now)


class Scaler:
    """Looks every interval and opens, drains and closes."""

    def __init__(
        self, env: simpy.Environment, scaling: Scaling, pools: Sequence[ScaledPool], fleet: Scaled
    ) -> None:
        self.env = env
        self.scaling = scaling
        self.pools = pools
        self.fleet = fleet
        self._on_tick = (self._tick,)
        for pool in pools:
            if not 1 <= pool.first <= len(pool.usages):
                raise ValueError(
                    f"scaling.{pool.name}_instances = {pool.first}; allowed: 1 to {len(pool.usages)}"
                )
            for instance in range(pool.first, len(pool.usages)):
                fleet.drained(pool.name, instance)
                pool.usages[instance].enter(OFF, 0.0)
                pool.off.append(instance)
        Call(env, scaling.interval_s, self._on_tick)

    def _tick(self, event: Call) -> None:
        scaling, now_s = self.scaling, self.env.now
        pressures = [pool.pressure(scaling.interval_s) for pool in self.pools]
        for number, pool in enumerate(self.pools):
            for instance in [each for each in pool.draining if pool.empty(each)]:
                pool.draining.remove(instance)
                pool.off.append(instance)
                pool.usages[instance].enter(OFF, now_s)
                if scaling.kind == "rebalanced":
                    self._start(self.pools[1 - number])
        if scaling.kind == "autoscaled":
            for pool, pressure in zip(self.pools, pressures, strict=True):
                if pressure > scaling.high_fraction:
                    self._start(pool)
                elif pressure < scaling.low_fraction and not pool.starting:
                    self._drain(pool)
        elif len(self.pools) == 2:
            for giver, taker in ((0, 1), (1, 0)):
                moving = any(each.draining or each.starting for each in self.pools)
                room = bool(self.pools[taker].off)
                needed = pressures[taker] > scaling.high_fraction > pressures[giver]
                if needed and room and not moving:
                    self._drain(self.pools[giver])
        Call(self.env, now_s + scaling.interval_s, self._on_tick)

    def _drain(self, pool: ScaledPool) -> None:
        on = pool.on()
        if len(on) > self.scaling.least_instances:
            self.fleet.drained(pool.name, on[-1])
            pool.draining.append(on[-1])

    def _start(self, pool: ScaledPool) -> None:
        """One more: one that is still draining at once, else one that is off."""
        if pool.draining and self.scaling.kind == "autoscaled":
            self.fleet.came_up(pool.name, pool.draining.pop())
        elif pool.off:
            instance = min(pool.off)
            pool.off.remove(instance)
            pool.starting.add(instance)
            pool.usages[instance].enter(IDLE, self.env.now)
            due_s = self.env.now + self.scaling.start_s
            Call(self.env, due_s, (self._started,), payload=(pool, instance))

    def _started(self, event: Call) -> None:
        pool, instance = event.payload
        pool.starting.remove(instance)
        self.fleet.came_up(pool.name, instance)
