"""Caches below the accelerator's memory: host memory and SSD of an instance, a store the fleet shares.

A prompt's KV is written to every tier as its prefill ends, beside other work. Reading takes the tier's
latency and its bytes at the tier's rate, one request after the other; a request fetches only where that is
over before recomputing would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pdexplorer.simulator.cache import Blocks, LruCache


@dataclass(frozen=True)
class Tier:
    """One cache. capacity_bytes and read rate are of one instance's, or of the whole shared store."""

    capacity_bytes: float
    byte_per_s: float
    latency_s: float = 0.0


class TierPort:
    """A tier's content and until when its reads are taken."""

    __slots__ = ("block_s", "blocks", "free_s", "latency_s")

    def __init__(self, tier: Tier, block_bytes: float) -> None:
        self.blocks = LruCache(tier.capacity_bytes // block_bytes)
        self.block_s = block_bytes / tier.byte_per_s
        self.latency_s = tier.latency_s
        self.free_s = 0.0

    def end_s(self, blocks: int, now_s: float) -> float:
        """When that many blocks would be here."""
        return max(now_s, self.free_s) + self.latency_s + blocks * self.block_s


Ports = list[tuple[str, TierPort]]
"""The slower tiers one instance reads, by name, fastest first."""


def instance_ports(host: Tier | None, ssd: Tier | None, store: TierPort | None, block_bytes: float) -> Ports:
    """Of one instance: memory and SSD of its own, and the store that all share."""
    ports = [(name, TierPort(tier, block_bytes)) for name, tier in (("host", host), ("ssd", ssd)) if tier]
    return [*ports, ("store", store)] if store is not None else ports


@dataclass(frozen=True)
class Fetch:
    """Leading blocks a request will have at end_s, and how many of them come from each tier."""

    blocks: int
    end_s: float
    of_tier: tuple[tuple[str, int], ...]


def plan_fetch(
    ports: Sequence[tuple[str, TierPort]], blocks: Blocks, here: int, now_s: float
) -> Fetch | None:
    """What to fetch beyond the `here` leading blocks an instance has; the fastest tier that has a block
    gives it.
    """
    taken = [0] * len(ports)
    count = here
    for block in blocks[here:]:
        tier = next((number for number, (_, port) in enumerate(ports) if block in port.blocks), -1)
        if tier < 0:
            break
        taken[tier] += 1
        count += 1
    if count == here:
        return None
    ends = [port.end_s(each, now_s) for each, (_, port) in zip(taken, ports, strict=True) if each]
    of_tier = tuple((name, each) for each, (name, _) in zip(taken, ports, strict=True) if each)
    return Fetch(count, max(ends), of_tier)


def start_fetch(ports: Sequence[tuple[str, TierPort]], fetch: Fetch, blocks: Blocks, now_s: float) -> None:
    """Take the ports for it; what is read counts as used now."""
    wanted = dict(fetch.of_tier)
    for name, port in ports:
        if name in wanted:
            port.free_s = port.end_s(wanted[name], now_s) - port.latency_s
            port.blocks.put([block for block in blocks[: fetch.blocks] if block in port.blocks])
