"""Where a fleet's money goes: four parts, each from its own measured time, against fleet cost ÷ requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pdexplorer.metrics.money import FleetPrice
from pdexplorer.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True)
class PoolTime:
    """Shares of one pool's instance time. They add up to 1 because each was measured, not because one is
    the rest.
    """

    prefill: float
    decode: float
    transfer_blocked: float
    idle: float


def cost_parts(
    price: FleetPrice, pools: Sequence[PoolTime], requests_per_s: float
) -> Mapping[str, float] | None:
    """USD per request: prefill, decode, kv_transfer (network and time blocked only by transfers),
    scheduling_idle, and total = fleet cost ÷ requests. None without prices or requests.
    """
    cost = price.usd_per_hour
    if cost is None or requests_per_s <= 0.0:
        return None
    per_request = 1.0 / (SECONDS_PER_HOUR * requests_per_s)
    paid = list(zip(price.pools_usd_per_hour, pools, strict=True))
    return {
        "prefill": sum(usd * time.prefill for usd, time in paid) * per_request,
        "decode": sum(usd * time.decode for usd, time in paid) * per_request,
        "kv_transfer": (sum(usd * time.transfer_blocked for usd, time in paid) + price.network_usd_per_hour)
        * per_request,
        "scheduling_idle": sum(usd * time.idle for usd, time in paid) * per_request,
        "total": cost * per_request,
    }
