"""How many whole colocated instances hold every limit, and what those carry."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.colocated import ColocatedDesigns, colocated_flow
from pdexplorer.steady.colocated_capacity import (
    carried_at,
    colocated_capacity,
    colocated_load,
    colocated_wait,
)
from pdexplorer.steady.solve import meet
from pdexplorer.study.search.basis import Basis
from pdexplorer.study.search.score import ColocatedScore

Array = NDArray[np.float64]

_ALMOST_NONE = 1e-12
"""In flight: less than any load that is asked leaves on an instance."""
_ROUNDS = 4
"""Of growing a fleet whose instances carry less in their whole number than they do unrounded."""


@dataclass(frozen=True, eq=False)
class WholeColocated:
    """Of every design (instances, budgets): how many, what they carry together, requests in flight on one."""

    count: Array
    carried: Array
    in_flight: Array
    fits: NDArray[np.bool_]


def whole_colocated(score: ColocatedScore, basis: Basis, weight: Array, pinned: int | None) -> WholeColocated:
    """Scores pool as many instances as the demand needs, unrounded; a fleet has those that it has."""
    designs = score.designs
    count, carried = basis.instances(one_instance_carries(score), weight, pinned)
    in_flight, fits = score.in_flight, score.fits
    for _ in range(_ROUNDS):
        instances = np.maximum(count, 1.0)[:, :, None, None]
        most = colocated_capacity(designs, instances, near=in_flight)
        in_flight, fits = most.x, most.fits
        one = one_instance_carries(score, in_flight, instances)
        needed, _ = basis.instances(one, weight, pinned)
        carried = count * np.minimum(one, 1e12)
        short = fits[:, :, 0, 0] & (needed > count)
        if basis.grows or not short.any():
            break
        count = np.where(short, needed, count)
    return WholeColocated(count, carried, in_flight[:, :, 0, 0], fits[:, :, 0, 0])


def one_instance_carries(
    score: ColocatedScore, in_flight: Array | None = None, instances: Array | None = None
) -> Array:
    """In the unit demand comes in, (instances, budgets); instances None: as many as it needs, unrounded. A
    closed loop without a limit on waiting leaves any number outside.
    """
    flow = colocated_flow(score.designs, score.in_flight if in_flight is None else in_flight)
    wait = colocated_wait(score.designs, flow, instances)
    load = score.designs.load
    carried = colocated_load(score.designs, flow, wait)
    if load.concurrency is not None:
        carried = np.where(load.waits_freely, np.inf, carried)
    return np.asarray(carried)[:, :, 0, 0]


def in_flight_at(
    designs: ColocatedDesigns, per_instance: Array | float, instances: Array, most: Array | float
) -> Array:
    """In flight on one instance where each carries that load, within the limits.

    Above the largest load that holds the limits the rate need not rise with the requests in flight: where
    decodes fill the token budget a prompt has none left.
    """
    low, high = np.full(designs.shape, _ALMOST_NONE), np.broadcast_to(most, designs.shape)
    if designs.load.concurrency is None:
        # Little's law with the shortest step there is: never more than in truth.
        fastest, _ = designs.grid.at(np.ones((1, 1, 1, 1)))
        least = per_instance * designs.load.mean_decode_steps * fastest
        low = np.minimum(np.maximum(least, low), 0.999 * high)
    target = np.broadcast_to(per_instance, designs.shape)
    return meet(lambda b: carried_at(designs, b, instances), target, low, high)
