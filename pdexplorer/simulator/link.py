"""KV transfers between the pools: each port serves first come first served, and bytes cut through.

A transfer passes one prefill instance's egress, the fabric and one decode instance's ingress. Each port
serves its transfers in order at its own rate; a transfer ends when the last of its ports has served it. So
a lone transfer takes bytes ÷ the slowest rate, no port ever carries more than its rate, every byte is
counted once per port, and the end of a transfer is known when it starts: one event each. Fair sharing would
give the same ends for the last of several transfers, and later ones for the first.
"""

from pdexplorer.simulator.specs import LinkSpec


class Link:
    """Ports' times of becoming free, and what went through; seconds and bytes."""

    __slots__ = (
        "bytes_moved",
        "egress_busy_s",
        "egress_byte_per_s",
        "egress_free_s",
        "fabric_busy_s",
        "fabric_byte_per_s",
        "fabric_free_s",
        "ingress_busy_s",
        "ingress_byte_per_s",
        "ingress_free_s",
    )

    def __init__(self, spec: LinkSpec, prefill_instances: int, decode_instances: int) -> None:
        self.egress_byte_per_s = spec.egress_byte_per_s
        self.ingress_byte_per_s = spec.ingress_byte_per_s
        self.fabric_byte_per_s = spec.egress_byte_per_s * prefill_instances * spec.fabric_fraction
        self.egress_free_s = [0.0] * prefill_instances
        self.ingress_free_s = [0.0] * decode_instances
        self.fabric_free_s = 0.0
        self.egress_busy_s = [0.0] * prefill_instances
        self.ingress_busy_s = [0.0] * decode_instances
        self.fabric_busy_s = 0.0
        self.bytes_moved = 0.0

    def send(self, prefill: int, decode: int, size_bytes: float, start_s: float) -> float:
        """Time at which the last byte arrives, without the fixed latency."""
        out_s = size_bytes / self.egress_byte_per_s
        in_s = size_bytes / self.ingress_byte_per_s
        through_s = size_bytes / self.fabric_byte_per_s
        egress = self.egress_free_s[prefill]
        egress = (egress if egress > start_s else start_s) + out_s
        self.egress_free_s[prefill] = egress
        ingress = self.ingress_free_s[decode]
        ingress = (ingress if ingress > start_s else start_s) + in_s
        self.ingress_free_s[decode] = ingress
        fabric = self.fabric_free_s
        fabric = (fabric if fabric > start_s else start_s) + through_s
        self.fabric_free_s = fabric
        self.egress_busy_s[prefill] += out_s
        self.ingress_busy_s[decode] += in_s
        self.fabric_busy_s += through_s
        self.bytes_moved += size_bytes
        return max(egress, ingress, fabric)
