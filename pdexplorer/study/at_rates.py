"""Two given fleets over a range of rates, in closed form: who meets the limits from idle to overload."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.fleet import ColocatedFleet, DisaggregatedFleet
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.colocated import ColocatedDesigns, ColocatedFlow, colocated_flow, every_design
from pdexplorer.steady.colocated_capacity import (
    ColocatedWait,
    colocated_at,
    colocated_attainment,
    colocated_wait,
)
from pdexplorer.steady.disaggregated import DisaggregatedFlow, decode_at, disaggregated_flow
from pdexplorer.steady.load import Load, load_of
from pdexplorer.steady.split_designs import DisaggregatedDesigns, every_pair
from pdexplorer.steady.wire import wire_of
from pdexplorer.study.search.space import design_space
from pdexplorer.study.search.space_of import space_of

Array = NDArray[np.float64]

_CARRIED = 0.999


@dataclass(frozen=True, eq=False)
class AtRates:
    """Over rates (rates,): attainment 0 where the fleet overloads, for its queue then grows without bound."""

    rate_per_s: Array
    attainment_fraction: Array
    goodput_per_s: Array
    ttft_mean_s: Array
    tpot_mean_s: Array
    overloaded: NDArray[np.bool_]


def open_scenario(scenario: Scenario) -> Scenario:
    """The same with open arrivals: a closed loop has no rate to vary."""
    if scenario.workload.arrivals != "closed_loop":
        return scenario
    return scenario.model_copy(
        update={"workload": scenario.workload.model_copy(update={"arrivals": "poisson"})}
    )


@dataclass(frozen=True, eq=False)
class ColocatedState:
    """Shapes (1, 1, 1, rates); service and interference with the classes in front."""

    load: Load
    designs: ColocatedDesigns
    flow: ColocatedFlow
    wait: ColocatedWait


@dataclass(frozen=True, eq=False)
class DisaggregatedState:
    """As ColocatedState, of both pools."""

    load: Load
    designs: DisaggregatedDesigns
    flow: DisaggregatedFlow


def colocated_state(
    scenario: Scenario, catalog: Catalog, fleet: ColocatedFleet, rates_per_s: Array, scale: float = 1.0
) -> ColocatedState:
    """scale: how many times the fleet, unrounded."""
    load = _load(scenario, rates_per_s)
    space = space_of(design_space(scenario, catalog), [fleet.instance], [], [])
    designs = every_design(
        load, space.colocated_table, np.array([float(fleet.chunk_tokens)]), fleet.chunking,
        float(fleet.max_batch),
    )  # fmt: skip
    count = np.full((1, 1, 1, 1), fleet.instances * scale)
    in_flight = colocated_at(designs, rates_per_s[None, None, None, :] / count, count)
    flow = colocated_flow(designs, in_flight)
    return ColocatedState(load, designs, flow, colocated_wait(designs, flow, count))


def colocated_at_rates(
    scenario: Scenario, catalog: Catalog, fleet: ColocatedFleet, rates_per_s: Array, scale: float = 1.0
) -> AtRates:
    """scale: how many times the fleet, unrounded."""
    state = colocated_state(scenario, catalog, fleet, rates_per_s, scale)
    load, designs, flow, wait = state.load, state.designs, state.flow, state.wait
    each = rates_per_s[None, None, None, :] / (fleet.instances * scale)
    held = flow.in_flight * load.context_tokens
    over = (flow.rate_per_s < each * _CARRIED) | (held > designs.kv_tokens)
    over |= flow.utilisation >= _CARRIED
    ttft = wait.mean_s + wait.after_s + wait.service_mean_s
    return _rows(rates_per_s, colocated_attainment(designs, flow, wait)[0], ttft, flow.tpot_s, over)


def disaggregated_state(
    scenario: Scenario, catalog: Catalog, fleet: DisaggregatedFleet, rates_per_s: Array, scale: float = 1.0
) -> DisaggregatedState:
    """scale: how many times the fleet, unrounded. ValueError where the pools cannot exchange KV."""
    load = _load(scenario, rates_per_s)
    space = space_of(design_space(scenario, catalog), [], [fleet.prefill], [fleet.decode])
    wire = wire_of(catalog, scenario, space.prefill, space.decode, load)
    if isinstance(wire, Infeasible):
        raise ValueError(wire.text)
    designs = every_pair(
        load, space.prefill_table, space.decode_table, wire, float(fleet.prefill_batch_tokens),
        float(fleet.max_batch), fleet.first_token_from == "decode",
    )  # fmt: skip
    n_p = np.full((1, 1, 1, 1), fleet.prefill_instances * scale)
    n_d = np.full((1, 1, 1, 1), fleet.decode_instances * scale)
    rate = rates_per_s[None, None, None, :]
    decode = decode_at(designs, rate / n_d, n_d)
    return DisaggregatedState(load, designs, disaggregated_flow(designs, rate / n_p, n_p, decode))


def disaggregated_at_rates(
    scenario: Scenario, catalog: Catalog, fleet: DisaggregatedFleet, rates_per_s: Array, scale: float = 1.0
) -> AtRates:
    """scale: how many times the fleet, unrounded. ValueError where the pools cannot exchange KV."""
    state = disaggregated_state(scenario, catalog, fleet, rates_per_s, scale)
    load, designs, flow = state.load, state.designs, state.flow
    each = rates_per_s[None, None, None, :] / (fleet.decode_instances * scale)
    decode = flow.decode
    over = (decode.rate_per_s < each * _CARRIED) | (
        decode.in_flight * load.context_tokens > designs.kv_tokens
    )
    over = over | (flow.prefill.utilisation >= _CARRIED) | (flow.link.busy >= _CARRIED)
    ttft = flow.wait_s + flow.after_s + load.over(np.broadcast_to(flow.service_s, _wide(load, each)))
    return _rows(rates_per_s, flow.attained, ttft, decode.step_s, over)


def _wide(load: Load, rate: Array) -> tuple[int, ...]:
    return (len(load.weight), *rate.shape)


def _load(scenario: Scenario, rates_per_s: Array) -> Load:
    """The rates are the fleet's own, so without the peak over the mean."""
    peak = scenario.workload.peak_to_mean_ratio
    return load_of(scenario, {"workload.rate_per_s": rates_per_s[None, :] / peak})


def _rows(rates: Array, attained: Array, ttft: Array, tpot: Array, over: NDArray[np.bool_]) -> AtRates:
    def flat(values: Array | NDArray[np.bool_]) -> Array:
        return np.asarray(np.broadcast_to(values, (1, 1, 1, len(rates)))[0, 0, 0], dtype=float)

    overloaded = flat(over).astype(bool)
    share = np.where(overloaded, 0.0, np.nan_to_num(flat(attained)))
    return AtRates(rates, share, rates * share, flat(ttft), flat(tpot), overloaded)
