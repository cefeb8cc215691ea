"""The three parts of a disaggregated fleet at a load: prefill queue, link, decode batch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.steady.pool import seen_batch, spread_batch
from pdexplorer.steady.split_designs import DisaggregatedDesigns
from pdexplorer.steady.tails import (
    conditional_wait_cv2,
    mean_wait_s,
    wait_probability,
)

Array = NDArray[np.float64]

_ROUTING = 0.25
"""Sending to the instance with the fewest tokens waits this much longer than one queue for all, for many
instances.
"""


_OVERLOADED_S = 1e6
_SENDING = 0.5
"""Senders pool their queues like this power of as many servers: the router sees prompts, and transfers only
as far as they run under those.
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
    wait_cv2: Array
    prompts: Array


def prefill_flow(designs: DisaggregatedDesigns, rate_per_s: Array, instances: Array) -> PrefillFlow:
    """A queue whose prompts share steps up to the token budget.

    A step costs a fixed part and a part per prompt. Waiting is the queue of the parts that remain when
    steps are full, plus what is left of a running step's fixed part; a prompt is done when its whole step
    is. With pipeline stages a step's bubble delays its own prompts and nobody else's.
    """
    load = designs.load
    lone, most = designs.lone_s, np.maximum(designs.most_prompts, 1.0)
    held = designs.held_share
    one, cv2, full = designs.lone_mean_s * held, designs.lone_cv2, designs.full_s
    second, third = designs.lone_moments
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
    return PrefillFlow(
        rate_per_s,
        busy,
        utilisation,
        lone + (step - one) + shared,
        wait,
        share,
        conditional_wait_cv2(utilisation, one, second * held**2, third * held**3),
        prompts,
    )


@dataclass(frozen=True, eq=False)
class LinkFlow:
    """Transfers at a load. wire_s and exposed_s by class; busy: of the busier end or the fabric; sending: of
    a sender, with what receivers that are taken hold it up.
    """

    wire_s: Array
    exposed_s: Array
    busy: Array
    egress_busy: Array
    ingress_busy: Array
    sending: Array
    wait_s: Array
    wait_share: Array
    wait_cv2: Array


def link_flow(
    designs: DisaggregatedDesigns,
    prefill_rate_per_s: Array,
    decode_rate_per_s: Array,
    prefill: PrefillFlow,
    senders: Array,
) -> LinkFlow:
    """A queue at each sender, behind its prefill, and one at each receiver.

    Of queues in a row only the slowest one's wait counts, which is exact for constant service times (Friedman
    1965). A receiver's transfers come from several senders, of which each spaces only its own.
    """
    wire = designs.wire
    mean, cv2 = designs.moved_mean_bytes, designs.moved_cv2
    time = wire.moved_bytes / np.minimum(wire.egress_byte_per_s, wire.ingress_byte_per_s)
    sent_s = mean / wire.egress_byte_per_s / wire.fabric_fraction
    taken_s = mean / wire.ingress_byte_per_s
    egress, ingress = prefill_rate_per_s * sent_s, decode_rate_per_s * taken_s
    several = np.maximum(senders, 1.0)
    receivers = np.maximum(several * prefill_rate_per_s / decode_rate_per_s, 1.0)
    # Two that send to one of several receivers hold each other up: about half of the others are met.
    met = 0.5 * ingress * (1.0 - 1.0 / several) * np.minimum(2.0 - 2.0 / receivers, 1.0)
    alone_s = mean / np.minimum(wire.egress_byte_per_s, wire.ingress_byte_per_s)
    held_s = np.maximum(sent_s, taken_s / np.maximum(1.0 - met, 1e-6))
    held = prefill_rate_per_s * held_s
    exposed = time
    if wire.layerwise_overlap:
        early = prefill.service_s * ((wire.layers - 1) / wire.layers)
        exposed = np.maximum(time / wire.layers, time - early)
    servers, pooled = np.ones_like(senders), np.ones_like(receivers)
    if designs.load.least_loaded:
        hidden = 1.0 - designs.load.over(exposed) / np.maximum(alone_s, 1e-12)
        servers, pooled = several ** (_SENDING + (1.0 - _SENDING) * hidden), receivers
    before = np.minimum(prefill.wait_s, _OVERLOADED_S)
    sending = np.minimum(mean_wait_s(held, servers, held_s, cv2, np.ones_like(held)), _OVERLOADED_S)
    taking = np.minimum(mean_wait_s(ingress, pooled, taken_s, cv2, 1.0), _OVERLOADED_S)
    sent_behind = np.maximum(sending - before, 0.0)
    taken_behind = np.maximum(taking - before / several, 0.0)
    behind = np.maximum(sent_behind, taken_behind)
    # Prompts of one step end together, and all but the first of their transfers wait.
    mates = 0.5 * (prefill.prompts - 1.0) * held_s
    if wire.layerwise_overlap:
        mates = np.minimum(mates, 0.5 * np.maximum(prefill.prompts * held_s - designs.load.over(early), 0.0))
    wait = behind + mates + np.maximum(held_s - alone_s, 0.0)
    share = np.maximum(
        np.minimum(held, 1.0) * sent_behind / np.maximum(sending, 1e-12),
        np.minimum(ingress, 1.0) * taken_behind / np.maximum(taking, 1e-12),
    )
    share = np.maximum(np.maximum(share, met), np.minimum(mates / np.maximum(held_s, 1e-12), 1.0))
    share = share * (wait / np.maximum(wait + prefill.wait_s, 1e-12))
    busy = np.maximum(np.maximum(egress, ingress), held)
    return LinkFlow(
        time, wire.latency_s + exposed, busy, egress, ingress, held, wait, share,
        conditional_wait_cv2(busy, 1.0, *designs.moved_moments),
    )  # fmt: skip


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
    step, slope = designs.grid.at(batch)
    rate = in_flight / (designs.decode_steps * step)
    if instances is None:
        instances = np.maximum(load.rate_per_s / rate, 1.0)
    return DecodeFlow(in_flight, batch, active, step, slope, rate, spread_batch(load, in_flight, instances))
