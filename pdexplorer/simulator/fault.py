"""What goes wrong, or is done on purpose, during a replay."""

import math
from dataclasses import dataclass
from typing import Literal

FaultKind = Literal["down", "drain", "router_down", "slow_link", "transfer_failure"]
FaultPool = Literal["colocated", "prefill", "decode"]


@dataclass(frozen=True)
class Fault:
    """From start_s until end_s.

    down: `instance` of `pool` dies with everything on it and comes back empty. drain: it gets nothing new and
    finishes what it has. router_down: arrivals wait at the door. slow_link: transfers get rate_fraction of
    their rates, and an exponential jitter of mean jitter_s after the last byte. transfer_failure: each
    transfer that ends in this time fails with that probability. A colocated fleet takes the faults of a
    `prefill` or `decode` instance on its instance of that number, and has no link.
    Raises ValueError for values that mean nothing.
    """

    kind: FaultKind
    start_s: float
    end_s: float = math.inf
    pool: FaultPool = "decode"
    instance: int = 0
    rate_fraction: float = 1.0
    jitter_s: float = 0.0
    failure_fraction: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.start_s < self.end_s:
            raise ValueError(
                f"fault {self.kind}: start_s = {self.start_s:g}, end_s = {self.end_s:g}; "
                "allowed: 0 <= start_s < end_s"
            )
        if self.kind == "router_down" and math.isinf(self.end_s):
            raise ValueError("fault router_down: end_s = inf; allowed: a time at which the router returns")
        if not 0.0 < self.rate_fraction <= 1.0:
            raise ValueError(
                f"fault {self.kind}: rate_fraction = {self.rate_fraction:g}; allowed: above 0 to 1"
            )
        if not 0.0 <= self.failure_fraction <= 1.0 or self.jitter_s < 0.0:
            raise ValueError(
                f"fault {self.kind}: failure_fraction = {self.failure_fraction:g}, jitter_s = "
                f"{self.jitter_s:g}; allowed: a share from 0 to 1, seconds from 0"
            )
