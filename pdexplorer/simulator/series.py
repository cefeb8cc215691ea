"""Time series of a replay: sampled at a fixed interval, whatever happens in between."""

from collections.abc import Callable

import numpy as np
import simpy
from numpy.typing import NDArray

from pdexplorer.simulator.events import AFTER_ARRIVALS, Call

_LEAST_POINTS = 40
_LOOKS_A_REQUEST = 1

SERIES = ("waiting", "batch", "kv_fraction", "in_transfer", "link_fraction")


def worth_sampling(points: int, requests: int, instances: int) -> int:
    """Fewer points where a short replay has many instances: a sample looks at each of them."""
    return min(points, max(_LEAST_POINTS, _LOOKS_A_REQUEST * requests // max(1, instances)))


class Sampler:
    """Calls `sample` every interval, expected_s ÷ points at first; as twice that many points pile up, every
    second one is dropped and the interval doubles.
    """

    def __init__(
        self,
        env: simpy.Environment,
        sample: Callable[[], tuple[float, ...]],
        points: int,
        expected_s: float,
    ) -> None:
        self.env = env
        self.sample = sample
        self.limit = 2 * points
        self.interval_s = max(expected_s, 1.0) / max(points, 1)
        self.rows: list[tuple[float, ...]] = []
        self._on_time = (self._take,)
        if points > 0:
            Call(env, 0.0, self._on_time, AFTER_ARRIVALS)

    def _take(self, event: Call) -> None:
        self.rows.append((self.env.now, *self.sample()))
        if len(self.rows) >= self.limit:
            self.rows = self.rows[::2]
            self.interval_s *= 2.0
        Call(self.env, self.rows[-1][0] + self.interval_s, self._on_time, AFTER_ARRIVALS)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """time_s and the series by name."""
        table = np.array(self.rows, dtype=float).reshape(-1, 1 + len(SERIES))
        return {name: table[:, column] for column, name in enumerate(("time_s", *SERIES))}
