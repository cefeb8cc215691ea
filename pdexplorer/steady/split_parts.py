"""The three parts of a disaggregated fleet at a load: prefill queue, link, decode batch."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.pool import seen_batch, spread_batch
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.steady.tails import mean_wait_s, one_server_wait_s, wait_probability

Array = NDArray[np.float64]

_ROUTING = 0.25
"""Sending to the instance with the fewest tokens waits this much longer than one queue for all, for many
instances.
"""


@dataclass(frozen=True, eq=False)
class PrefillFlow:
    """One prefill instance at a rate. busy: share of time it computes; utilisation: of what it could
    carry.
    """

    rate_per_s: Array
    busy: Array
    utilisation: Array
    service_s: Array
    wait_s: Array
    wait_share: Array


def prefill_flow(designs: DisaggregatedDesigns, rate_per_s: Array, instances: Array) -> PrefillFlow:
    """A queue whose prompts share steps up to the token budget.

    A step costs a fixed part and a part per prompt. Waiting is the queue of the parts that remain when
    steps are full, plus what is left of a running step's fixed part; a prompt is done when its whole step
    is.
    """
    load = designs.load
    lone, most = designs.lone_s, np.maximum(designs.most_prompts, 1.0)
    one, cv2, full = designs.lone_mean_s, designs.lone_cv2, designs.full_s
    fixed = one - full
    utilisation = rate_per_s * full
    room = np.maximum(1.0 - utilisation, 1e-6)
    prompts = np.minimum(np.maximum(rate_per_s * fixed / room, 1.0), most)
    step = fixed + prompts * full
    busy = np.minimum(rate_per_s * step / prompts, 1.0)
    servers = instances if load.least_loaded else np.ones_like(instances)
    arrival_cv2 = load.arrival_cv2 if load.least_loaded else load.arrival_cv2 / instances
    share = wait_probability(busy, servers)
    queue = mean_wait_s(utilisation, servers, full, cv2, arrival_cv2) * (
        1.0 + _ROUTING * (1.0 - 1.0 / servers)
    )
    wait = queue + 0.5 * share * np.minimum(fixed / room, most * full)
    shared = np.minimum(wait * busy / (1.0 + busy), 0.5 * most * full) * (1.0 - 1.0 / most)
    return PrefillFlow(rate_per_s, busy, utilisation, lone + (step - one) + shared, wait, share)


@dataclass(frozen=True, eq=False)
class LinkFlow:
    """Transfers at a load. wire_s and exposed_s by class; busy: of the busier end or the fabric."""

    wire_s: Array
    exposed_s: Array
    busy: Array
    egress_busy: Array
    ingress_busy: Array
    wait_s: Array


def link_flow(
    designs: DisaggregatedDesigns, prefill_rate_per_s: Array, decode_rate_per_s: Array, service_s: Array
) -> LinkFlow:
    wire = designs.wire
    mean, cv2 = designs.moved_mean_bytes, designs.moved_cv2
    time = wire.moved_bytes / np.minimum(wire.egress_byte_per_s, wire.ingress_byte_per_s)
    egress = prefill_rate_per_s * mean / wire.egress_byte_per_s / wire.fabric_fraction
    ingress = decode_rate_per_s * mean / wire.ingress_byte_per_s
    # A sender's transfers come as its prefills end, about as evenly as its queue serves them.
    wait = one_server_wait_s(ingress, mean / wire.ingress_byte_per_s, cv2)
    wait = wait + 0.5 * one_server_wait_s(egress, mean / wire.egress_byte_per_s / wire.fabric_fraction, cv2)
    exposed = time
    if wire.layerwise_overlap:
        exposed = np.maximum(time / wire.layers, time - service_s * (wire.layers - 1) / wire.layers)
    return LinkFlow(time, wire.latency_s + exposed, np.maximum(egress, ingress), egress, ingress, wait)


@dataclass(frozen=True, eq=False)
class DecodeFlow:
    """One decode instance at a number in flight; shapes (1, decode, y, x) or wider."""

    in_flight: Array
    batch: Array
    active: Array
    step_s: Array
    slope_s: Array
    rate_per_s: Array
    spread: Array


def decode_flow(designs: DisaggregatedDesigns, in_flight: Array, instances: Array | None) -> DecodeFlow:
    """instances None: as many as the demand needs at this load, unrounded."""
    load = designs.load
    batch, active = seen_batch(in_flight, load.offline)
    step, slope = _decode_step(designs, batch)
    rate = in_flight / (designs.decode_steps * step)
    if instances is None:
        instances = np.maximum(load.rate_per_s / rate, 1.0)
    return DecodeFlow(in_flight, batch, active, step, slope, rate, spread_batch(load, in_flight, instances))


def _decode_step(designs: DisaggregatedDesigns, batch: Array) -> tuple[Array, Array]:
    """The grid's index has the instances in front; designs have them second."""
    grid = designs.grid
    turned = replace(grid, offset=np.moveaxis(grid.offset, 0, 1))
    return turned.at(batch)
