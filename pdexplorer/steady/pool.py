"""What any pool of instances that decodes has in common: batch, fluctuation, TPOT, KV memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.load import Load
from pdexplorer.steady.table import Rows, StepTable, locate
from pdexplorer.steady.tails import (
    cube_root,
    gamma_cdf_of_root,
    normal_cdf,
    normal_quantile_scalar,
    weibull_of,
)

Array = NDArray[np.float64]

_AVERAGING = 0.5
"""A request sees the batch over its whole life, which averages about half of its fluctuation away."""


@dataclass(frozen=True, eq=False)
class DecodeGrid:
    """Decode-only step times of a table at the cells' contexts, ready to be read at any batch."""

    nodes: Array
    flat: Array
    stride: int
    offset: NDArray[np.intp]

    def at(self, batch: Array) -> tuple[Array, Array]:
        """Step time in seconds at a real batch, and its slope per request."""
        return self.read(*locate(self.nodes, batch))

    def read(self, at: Rows, part: Array) -> tuple[Array, Array]:
        """The same where the batch is located already."""
        index = at * self.stride + self.offset
        low, high = self.flat[index], self.flat[index + self.stride]
        return low + (high - low) * part, (high - low) / (self.nodes[at + 1] - self.nodes[at])

    def batch_at(self, time_s: Array, each_s: Array | float) -> Array:
        """The largest batch whose decode-only step, with each_s for each request in it, takes no longer; 0
        where one request takes longer.
        """
        nodes = self.nodes.reshape(-1, *[1] * self.offset.ndim)
        times = self.flat.reshape(-1, *self.offset.shape) + nodes * each_s
        within = np.count_nonzero(times <= time_s, axis=0)
        at = np.minimum(np.maximum(within - 1, 0), len(self.nodes) - 2)
        low, high = (np.take_along_axis(times, (at + up)[None], axis=0)[0] for up in (0, 1))
        batch = self.nodes[at] + (time_s - low) / (high - low) * (self.nodes[at + 1] - self.nodes[at])
        return np.where(within == 0, 0.0, batch)


def decode_grid(table: StepTable, load: Load, rows: Rows) -> DecodeGrid:
    """Of the instances in rows, as StepTable.decode_at takes them."""
    values = table.decode_at(load.context_tokens, rows)
    stride = int(np.prod(values.shape[1:]))
    return DecodeGrid(table.batch_nodes, values.ravel(), stride, np.arange(stride).reshape(values.shape[1:]))


def seen_batch(in_flight: Array, steady: bool) -> tuple[Array, Array]:
    """Mean batch of a step that decodes, and the share of time with any decode, for a mean number in
    flight.

    Requests in flight are Poisson in number (many, independent); a pool kept full (steady) does not
    fluctuate.
    """
    if steady:
        return in_flight, np.ones_like(in_flight)
    active = -np.expm1(-in_flight)
    return in_flight / active, active


def spread_batch(load: Load, in_flight: Array, instances: Array) -> Array:
    """Standard deviation of one instance's batch. Balanced pools share their fluctuation; closed loops
    have little.
    """
    if load.offline or load.concurrency is not None:
        return 0.0 * in_flight
    return np.sqrt(in_flight / instances) if load.least_loaded else np.sqrt(in_flight)


def memory_excess(
    load: Load,
    kv_tokens: Array,
    in_flight: Array,
    instances: Array,
    prefilling: Array | float,
    max_batch: float,
) -> Array:
    """How far a pool oversteps its KV memory or batch limit at the SLO's percentile, over that limit; ≤ 0
    fits.

    kv_tokens: what an instance holds. prefilling: mean number of prompts that hold KV while computed.
    """
    z = normal_quantile_scalar(load.percentile_fraction)
    spread = spread_batch(load, in_flight, instances)
    context = load.context_tokens
    wobble = np.sqrt(spread * spread + in_flight * load.context_cv2)
    if load.offline:
        wobble = 0.0 * wobble
    held = context * (in_flight + z * wobble) + prefilling * load.mean_input_tokens
    return np.maximum(held / kv_tokens, (in_flight + z * spread) / max_batch) - 1.0


def tpot_attainment(
    load: Load,
    step_s: Array,
    slope_s: Array,
    batch_spread: Array,
    interference_s: Array,
    interference_variance: Array,
    worst_step_s: Array | None,
    at_once: Array | float = 0.0,
    most_s: Array | None = None,
) -> Array:
    """Share of each class that holds the TPOT limit: (classes, instances, ..., y, x).

    A request's TPOT is the decode-only step plus what prefills of others add, interference_s on average
    and a compound Poisson in kind: variance interference_variance ÷ the request's steps, and at_once ÷ their
    square. A request of few steps sees all of them prolonged by most_s or none. Where no step is ever
    longer than worst_step_s, no request's mean is either.
    """
    wobble = slope_s * batch_spread
    wobble2 = _AVERAGING * wobble * wobble
    shift = 3.0 * np.sqrt(wobble2) + 1e-7
    mean = interference_s + shift
    root = cube_root((load.tpot_limit_s - step_s + shift) / mean)
    steps = np.maximum(load.decode_steps, 1.0)[:, None, None]
    variance = (interference_variance + at_once / steps) / steps
    if most_s is not None:
        ceiling = interference_s * np.maximum(most_s - interference_s, 0.0) + 1e-18
        variance = variance * (ceiling / (variance + ceiling))
    shape = 3.0 * mean / np.sqrt(variance + wobble2 + 1e-18)
    attained = gamma_cdf_of_root(root, shape)
    if worst_step_s is not None:
        bound = normal_cdf((load.tpot_limit_s - worst_step_s) / (wobble + 1e-3 * worst_step_s))
        attained = np.maximum(attained, bound)
    if np.all(load.decode_steps >= 0.5):
        return attained
    return np.where(load.decode_steps[:, None, None] < 0.5, 1.0, attained)


def wait_attainment(
    load: Load,
    service_s: Array,
    after_s: Array,
    tail_s: Array | float,
    wait_share: Array,
    mean_wait: Array,
    wait_cv2: Array,
) -> Array:
    """Share of each class that holds the TTFT and the whole-request limit: (classes, instances, ..., y,
    x).

    service_s: what a request takes besides waiting until its first token, by class, proportional to its
    prompt; after_s: fixed additions; tail_s: the rest of the request, needed where that has a limit. Waits
    are 0 with 1 − wait_share, else Weibull.
    """
    limit = load.ttft_limit_s - after_s
    if load.limits_e2e:
        limit = np.minimum(load.ttft_limit_s, load.e2e_limit_s - tail_s) - after_s
    column = (slice(None), *([None] * (service_s.ndim - 1)))
    above = limit - load.low_ratio[column] * service_s
    width = np.maximum((load.high_ratio - load.low_ratio)[column] * service_s, 1e-9)
    share = np.minimum(np.maximum(above / width, 0.0), 1.0)
    # Half way into a class only its shorter half is in time, with half the room on average.
    room = np.maximum(np.maximum(0.5 * above, limit - service_s), 0.0)
    shape, scale = weibull_of(wait_cv2)
    decay = wait_share / np.maximum(mean_wait * scale, 1e-12)
    return share * (1.0 - wait_share * np.exp(-np.exp(shape * np.log(np.maximum(room * decay, 1e-12)))))
