"""Is it worth the complexity: what splitting costs once and every month, and when it has paid for itself.

What is assumed stands in the scenario (payback.*). Engineering counts the difference to a colocated fleet; a
NIC needs a switch port and optics, and those that are there already cost nothing.
"""

import math
from dataclasses import dataclass

from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.study.compare import Evaluation
from pdexplorer.units import HOURS_PER_YEAR

_HOURS_PER_MONTH = HOURS_PER_YEAR / 12.0


@dataclass(frozen=True, slots=True)
class PaybackRow:
    """One item. once_usd and usd_per_month: what it costs (above 0) or saves (below 0)."""

    key: str
    label: str
    once_usd: float
    usd_per_month: float


@dataclass(frozen=True)
class Payback:
    """saving: what the split's fleet costs less per month at the same demand; negative where it costs more.
    payback_months: None where it never pays back. net_usd: saving less everything else over `years`,
    in which break_even_requests_per_s just pays. cumulative_usd: after each month, from month 0.
    """

    rows: tuple[PaybackRow, ...]
    saving_usd_per_month: float
    once_usd: float
    net_usd_per_month: float
    payback_months: float | None
    years: float
    net_usd: float
    cumulative_usd: tuple[float, ...]
    break_even_requests_per_s: float | None
    text: str


def payback(evaluation: Evaluation) -> Payback | None:
    """None where a fleet cannot run or has no price. The colocated fleet has no KV network to buy."""
    c = evaluation.scenario.payback
    one, other = evaluation.colocated, evaluation.disaggregated
    fleet = evaluation.disaggregated_fleet
    if fleet is None or not one.cost_usd_per_hour or not other.cost_usd_per_hour:
        return None
    if not one.throughput_per_s or not other.throughput_per_s:
        return None
    # At the same demand: a fleet that serves more is charged for its share of what the other serves.
    share = one.throughput_per_s / other.throughput_per_s
    saving = (one.cost_usd_per_hour - other.cost_usd_per_hour * share) * _HOURS_PER_MONTH
    nics = nics_of_fleet(fleet)
    new_nics = nics * (1.0 - c.nics_present_fraction)
    new_ports = nics * (1.0 - c.switch_present_fraction)
    incidents = c.incidents_per_year / 12.0 * c.incident_usd
    rows = (
        PaybackRow("fleet", "GPUs and hosts at the demand", 0.0, -saving),
        PaybackRow("engineering", "Engineering beyond a colocated fleet", c.engineering_once_usd,
                   c.engineering_usd_per_month),
        PaybackRow("nics", f"{new_nics:.0f} of {nics} NICs to add", new_nics * c.nic_usd, 0.0),
        PaybackRow("switches", f"{new_ports:.0f} switch ports", new_ports * c.switch_port_usd, 0.0),
        PaybackRow("optics", "Optics of those ports", new_ports * c.optics_per_nic * c.optic_usd, 0.0),
        PaybackRow("incidents", "More ways to fail", 0.0, incidents),
    )  # fmt: skip
    once = sum(row.once_usd for row in rows)
    net = -sum(row.usd_per_month for row in rows)
    months = once / net if net > 0.0 else None
    counted = 12.0 * c.years
    total = counted * net - once
    cumulative = tuple(month * net - once for month in range(math.floor(counted) + 1))
    return Payback(
        rows, saving, once, net, months, c.years, total, cumulative,
        _break_even(evaluation, saving, net, once, counted), _text(saving, months, total, c.years),
    )  # fmt: skip


def nics_of_fleet(fleet: ColocatedFleet | DisaggregatedFleet) -> int:
    """NICs that carry KV; a colocated fleet has none."""
    if isinstance(fleet, ColocatedFleet):
        return 0
    return fleet.path.prefill_nics * fleet.prefill_instances + fleet.path.decode_nics * fleet.decode_instances


def _break_even(
    evaluation: Evaluation, saving: float, net: float, once: float, months: float
) -> float | None:
    """The demand that just pays, with savings in proportion to it; None where none is made."""
    if saving <= 0.0:
        return None
    fixed = saving - net + once / months
    rate = evaluation.colocated.throughput_per_s or 0.0
    return rate * fixed / saving


def _text(saving: float, months: float | None, total: float, years: float) -> str:
    if saving <= 0.0:
        return f"The split costs {-saving:,.0f} USD a month more before anything else: nothing pays it back."
    if months is None:
        return f"It saves {saving:,.0f} USD a month, less than running it costs: it never pays back."
    if total < 0.0:
        return f"It pays back after {months:.0f} months, beyond the {years:g} years counted."
    return f"It pays back after {months:.1f} months; {years:g} years leave {total:,.0f} USD."
