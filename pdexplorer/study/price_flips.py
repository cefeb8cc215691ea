"""The price of each pool's accelerator at which the decision flips; exact, for prices change no step time."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pdexplorer.metrics.money import price_of
from pdexplorer.physics.instance import Instance
from pdexplorer.study import words
from pdexplorer.study.break_even import break_even, shift
from pdexplorer.study.search.axes import Axis
from pdexplorer.study.search.score import ColocatedScore, DisaggregatedScore, gain_of, network_weights
from pdexplorer.study.search.space import Space
from pdexplorer.verdict import BreakEven

Array = NDArray[np.float64]

_SPAN = 16.0
_VALUES = 65


def price_break_evens(
    space: Space,
    colocated: ColocatedScore | None,
    split: DisaggregatedScore | None,
    thresholds: Sequence[float],
    anchor: float | None = None,
) -> tuple[BreakEven, ...]:
    """One for each accelerator of the two pools, over 16 times its price and a sixteenth.

    An accelerator without a price is scanned too, around the price of the other pool's. Where another one
    lacks a price there is no answer, and the text says which. anchor: as in break_even.break_evens.
    """
    if colocated is None or split is None:
        return ()
    everyone = (*space.colocated, *space.prefill, *space.decode)
    prices = {i.accelerator.id: price_of(i.accelerator, space.scenario.money).usd_per_hour for i in everyone}
    results = []
    for name in dict.fromkeys(i.accelerator.id for i in (*space.prefill, *space.decode)):
        others = [price for key, price in prices.items() if key != name and price is not None]
        unknown = [key for key, price in prices.items() if key != name and price is None]
        own = prices[name] or (others[0] if others else None)
        key = f"money.usd_per_hour.{name}"
        if own is None or unknown:
            results.append(BreakEven(key, None, "$/h", None, words.no_price(name, unknown)))
            continue
        values = np.unique(np.append(np.geomspace(own / _SPAN, own * _SPAN, _VALUES), own))
        gain = _gains(space, colocated, split, {**prices, name: values})
        if prices[name] is not None:
            gain = gain * shift(values, gain, own, anchor)
        axis = Axis(key, float(values[0]), float(values[-1]), "$/h")
        results.append(break_even(axis, values, gain, own, thresholds))
    return tuple(results)


def _gains(
    space: Space,
    colocated: ColocatedScore,
    split: DisaggregatedScore,
    prices: Mapping[str, float | Array | None],
) -> Array:
    """The gain at unrounded scale in one cell, over the values of the price that varies: (values,)."""

    def weights(instances: tuple[Instance, ...]) -> Array:
        rows = [np.atleast_1d(np.asarray(prices[i.accelerator.id], dtype=float)) for i in instances]
        gpus = np.array([float(i.gpus) for i in instances])
        return np.asarray(np.stack(np.broadcast_arrays(*rows), axis=-1) * gpus)

    one = np.where(colocated.fits, 1.0 / colocated.rate_per_s, np.inf)[:, :, 0, 0].min(axis=1)
    best = (weights(space.colocated) * one).min(axis=-1)
    p = weights(space.prefill) + network_weights(space, space.prefill, True)
    d = weights(space.decode) + network_weights(space, space.decode, True)
    rate_p = split.prefill_rate_per_s[:, :, 0, 0]
    rate_d = np.broadcast_to(split.decode.rate_per_s, split.fits.shape)[:, :, 0, 0]
    cost = p[:, :, None] / rate_p + d[:, None, :] / rate_d
    other = np.where(split.fits[:, :, 0, 0], cost, np.inf).min(axis=(1, 2))
    return gain_of(*np.broadcast_arrays(best, other))
