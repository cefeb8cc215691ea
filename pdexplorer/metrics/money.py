"""What an accelerator, a network port and a fleet cost per hour, and how we know."""

from dataclasses import dataclass

from pdexplorer.catalog.figure import Kind
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.decision_block import Money
from pdexplorer.units import HOURS_PER_YEAR


@dataclass(frozen=True, slots=True)
class Price:
    """USD per accelerator and hour; None where nobody published one. text says how it was reached."""

    accelerator_id: str
    usd_per_hour: float | None
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class FleetPrice:
    """USD per hour of a fleet's pools, in order, and of its KV network; missing names what has no price."""

    pools_usd_per_hour: tuple[float, ...]
    network_usd_per_hour: float
    prices: tuple[Price, ...]
    missing: str | None

    @property
    def usd_per_hour(self) -> float | None:
        """Everything, or None where a pool has no price."""
        return None if self.missing else sum(self.pools_usd_per_hour) + self.network_usd_per_hour


def price_of(accelerator: Accelerator, money: Money) -> Price:
    """A price set by hand, else published rent, else the purchase formula; basis `purchase` skips the
    rent.
    """
    name = accelerator.id
    if name in money.usd_per_hour:
        value = money.usd_per_hour[name]
        return Price(name, value, "assumed", f"{name}: ${value:.2f}/h, assumed in this scenario")
    rent = accelerator.rent_usd_per_hour
    if rent is not None and money.basis == "rent":
        return Price(name, rent, "published", f"{name}: ${rent:.2f}/h, published rent")
    if accelerator.purchase_usd is not None:
        return _purchase(accelerator, accelerator.purchase_usd, money)
    if rent is not None:
        return Price(
            name, rent, "published", f"{name}: ${rent:.2f}/h, published rent; no purchase price is published"
        )
    return Price(
        name,
        None,
        "published",
        f"{name}: no published price; set money.usd_per_hour.{name} to get money figures",
    )


def _purchase(accelerator: Accelerator, purchase_usd: float, money: Money) -> Price:
    """(purchase × (1 + host share)) ÷ (years × 8,760 × availability) + watts × PUE × $/kWh."""
    hours = money.years * HOURS_PER_YEAR * money.availability
    capital = purchase_usd * (1.0 + money.host_share) / hours
    watts = accelerator.tdp_w
    power = 0.0 if watts is None else watts / 1000.0 * money.pue * money.usd_per_kwh
    energy = (
        "its watts are unpublished and cost nothing here"
        if watts is None
        else f"{watts:.0f} W × {money.pue:g} PUE × ${money.usd_per_kwh:g}/kWh"
    )
    text = (
        f"{accelerator.id}: ${capital + power:.2f}/h from ${purchase_usd:,.0f} × (1 + "
        f"{money.host_share:g} host) over "
        f"{money.years:g} years at {money.availability:.0%}; {energy}"
    )
    return Price(accelerator.id, capital + power, "derived", text)


def fleet_price(fleet: ColocatedFleet | DisaggregatedFleet, money: Money) -> FleetPrice:
    """What the whole fleet costs per hour. A colocated fleet has no KV network to pay."""
    if isinstance(fleet, ColocatedFleet):
        pools = [(fleet.instance.accelerator, fleet.gpus)]
        nics = 0
    else:
        pools = [
            (fleet.prefill.accelerator, fleet.prefill.gpus * fleet.prefill_instances),
            (fleet.decode.accelerator, fleet.decode.gpus * fleet.decode_instances),
        ]
        nics = fleet.path.prefill_nics * fleet.prefill_instances
        nics += fleet.path.decode_nics * fleet.decode_instances
    prices = tuple(price_of(accelerator, money) for accelerator, _ in pools)
    unknown = [price.text for price in prices if price.usd_per_hour is None]
    costs = tuple((price.usd_per_hour or 0.0) * gpus for price, (_, gpus) in zip(prices, pools, strict=True))
    return FleetPrice(
        costs, nics * money.network_usd_per_nic_hour, prices, "; ".join(dict.fromkeys(unknown)) or None
    )
