"""What is held equal when two fleets are compared: the demand, a budget, a GPU count, or the fleets
themselves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.infeasible import Infeasible
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study import words

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Basis:
    """kind as scenario.compare.basis. demand_value: requests per second at peak, or requests in flight of
    a closed loop. budget: USD per hour, or GPUs; per_dollar says which. spares: of every pool that is sized.
    """

    kind: str
    per_dollar: bool
    demand_value: float
    closed: bool
    offline: bool
    budget: float
    spares: int = 0

    def spare(self, pinned: int | None) -> int:
        """Instances a pool has beyond its need; none where the scenario gives its number."""
        return self.spares if pinned is None else 0

    @property
    def grows(self) -> bool:
        """Whether a fleet is filled up rather than sized for a demand."""
        return self.kind in ("most_goodput", "equal_gpus") and not self.closed

    @property
    def score_unit(self) -> str:
        return "requests/s per $/h" if self.per_dollar else "requests/s per GPU"

    def instances(self, one: Array, weight: Array, pinned: int | None) -> tuple[Array, Array]:
        """(instances, what they carry together) where one carries `one` and costs `weight`."""
        # A closed loop without limits queues without bound: one instance then carries any number in flight.
        one = np.minimum(one, 1e12)
        if pinned is not None:
            count = np.full(one.shape, float(pinned))
        elif self.kind in ("most_goodput", "equal_gpus"):
            count = np.floor(self.budget / np.broadcast_to(weight, one.shape) * (1.0 + 1e-9))
        else:
            count = np.maximum(np.ceil(self.demand_value / np.maximum(one, 1e-12) * (1.0 - 1e-9)), 1.0)
        count = np.minimum(count, 1e7)
        return count, count * one

    def least(self, count: Array) -> Array:
        """What a fleet must carry to count as able."""
        enough = 0.0 if self.grows or self.offline else self.demand_value * (1.0 - 1e-9)
        return np.full(np.shape(count), enough)

    def merit(self, cost: Array, carried: Array) -> Array:
        """Larger is better: cheaper for the demand, ties to the one with more room; or carries more."""
        room = carried / np.maximum(carried.max(initial=0.0), 1e-12)
        if self.grows or self.kind in ("most_goodput", "equal_gpus"):
            return carried - 1e-9 * cost
        if self.offline:
            return carried / np.maximum(cost, 1e-12)
        return np.asarray(-cost + 1e-6 * room)

    def demand(self, carried: float) -> float:
        """The load the outcome is shown at."""
        return carried if self.grows else self.demand_value

    def short(self, carried: float, count: float) -> Infeasible:
        """Why a colocated fleet that fits one request still cannot serve."""
        if count < 1:
            return words.budget_too_small(self.budget, self.per_dollar, pools=False)
        return words.too_few(carried, self.demand_value, count, self.closed)


def basis_of(scenario: Scenario, per_dollar: bool, demand: Any) -> Basis:
    """equal_gpus counts GPUs whatever they cost; a budget without prices falls back to the GPU count."""
    kind = scenario.compare.basis
    workload = scenario.workload
    dollars = per_dollar and kind != "equal_gpus"
    return Basis(
        kind=kind,
        per_dollar=dollars,
        demand_value=float(np.asarray(demand).item()),
        closed=workload.arrivals == "closed_loop" and workload.mode == "online",
        offline=workload.mode == "offline",
        budget=scenario.compare.budget_usd_per_hour if dollars else float(scenario.compare.gpus),
        spares=scenario.compare.spare_instances if kind == "least_cost" and workload.mode == "online" else 0,
    )
