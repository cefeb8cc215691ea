"""The designs that are tried: every instance of either fleet that fits, and its step times on grids."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.memory import kv_capacity_tokens
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.physics.step import step_time_s
from pdexplorer.scenario.fleet_block import Pool
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.load import single_precision
from pdexplorer.steady.table import StepTable, build_table

Array = NDArray[np.float64]

TENSOR_PARALLEL = (1, 2, 4, 8)
PIPELINE_PARALLEL = (1, 2, 4)
CHUNK_BUDGETS_TOKENS = (512, 1024, 2048, 4096, 8192, 16384)
BATCH_BUDGETS_TOKENS = (512, 2048, 8192, 16384, 32768, 65536)
"""Of a batch job: without a latency limit a step may hold whole long prompts, as a prefill pool's do."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A design that cannot run, and why: a value of `candidates`."""

    fleet: str
    accelerator: str
    tp: int
    pp: int
    limit: Infeasible


@dataclass(frozen=True, eq=False)
class Space:
    """Instances by role, with a table for each role; an empty role has no table and says why in refused."""

    scenario: Scenario
    catalog: Catalog
    colocated: tuple[Instance, ...]
    prefill: tuple[Instance, ...]
    decode: tuple[Instance, ...]
    budgets: Array
    colocated_table: StepTable
    prefill_table: StepTable
    decode_table: StepTable
    refused: tuple[Refused, ...]

    @cached_property
    def single_precision(self) -> "Space":
        """The same with tables in 32 bits, for maps."""
        return replace(
            self,
            colocated_table=single_precision(self.colocated_table),
            prefill_table=single_precision(self.prefill_table),
            decode_table=single_precision(self.decode_table),
        )


def design_space(
    scenario: Scenario,
    catalog: Catalog,
    tensor_parallel: tuple[int, ...] = TENSOR_PARALLEL,
    chunk_budgets_tokens: tuple[int, ...] | None = None,
) -> Space:
    """Everything the scenario leaves open is tried; what it pins stays. ValueError for an unknown id."""
    offline = scenario.workload.mode == "offline"
    chunk_budgets_tokens = chunk_budgets_tokens or (BATCH_BUDGETS_TOKENS if offline else CHUNK_BUDGETS_TOKENS)
    refused: list[Refused] = []
    cache: dict[tuple[Any, ...], Instance | Infeasible] = {}

    def found(role: str, pool: Pool, accelerators: tuple[str, ...], engine: str) -> tuple[Instance, ...]:
        instances = []
        for accelerator in accelerators:
            for tp, pp in shapes(pool, tensor_parallel):
                key = (
                    accelerator, tp, pp, pool.ep, pool.attention_dp, pool.weight_format, engine,
                    pool.clock_ratio,
                )  # fmt: skip
                if key not in cache:
                    cache[key] = resolve_instance(
                        catalog, scenario, accelerator_id=accelerator, tp=tp, pp=pp, ep=pool.ep,
                        attention_dp=pool.attention_dp, weight_format=pool.weight_format, engine_id=engine,
                        clock_ratio=pool.clock_ratio,
                    )  # fmt: skip
                instance = cache[key]
                if isinstance(instance, Infeasible):
                    refused.append(Refused(role, accelerator, tp, pp, instance))
                else:
                    instances.append(instance)
        return tuple(instances)

    colocated = found(
        "colocated", scenario.colocated, accelerators_on_offer(scenario), scenario.colocated_engine
    )
    engine = scenario.engine.profile
    prefill = found("prefill", scenario.prefill, (scenario.prefill.accelerator,), engine)
    decode = found("decode", scenario.decode, (scenario.decode.accelerator,), engine)
    pinned = scenario.colocated.chunk_tokens
    budgets = (pinned,) if pinned is not None else chunk_budgets_tokens
    if scenario.engine.chunking == "unchunked":
        budgets = budgets[-1:]
    tables = _tables(
        (colocated, scenario.colocated.max_batch),
        (prefill, scenario.prefill.max_batch),
        (decode, scenario.decode.max_batch),
    )
    return Space(
        scenario, catalog, colocated, prefill, decode, np.array(budgets, dtype=float), *tables, tuple(refused)
    )


def shapes(pool: Pool, tensor_parallel: tuple[int, ...] = TENSOR_PARALLEL) -> tuple[tuple[int, int], ...]:
    """(tp, pp) that a pool may take: what it pins, or what is tried for auto."""
    tps = tensor_parallel if pool.tp is None else (pool.tp,)
    pps = PIPELINE_PARALLEL if pool.pp is None else (pool.pp,)
    return tuple((tp, pp) for tp in tps for pp in pps)


def accelerators_on_offer(scenario: Scenario) -> tuple[str, ...]:
    """What the colocated search may use: the one it is pinned to, the list given, or those of the two
    pools.
    """
    if scenario.colocated.accelerator is not None:
        return (scenario.colocated.accelerator,)
    offered = scenario.compare.accelerators or (scenario.prefill.accelerator, scenario.decode.accelerator)
    return tuple(dict.fromkeys(offered))


def _tables(*roles: tuple[tuple[Instance, ...], int]) -> tuple[StepTable, StepTable, StepTable]:
    """One table over all distinct instances, then a view for each role: roles share most of them."""
    distinct = list({id(instance): instance for instances, _ in roles for instance in instances}.values())
    largest = max(max_batch for _, max_batch in roles)
    kv = [
        float(capacity)
        for instance in distinct
        if not isinstance(capacity := kv_capacity_tokens(instance), Infeasible)
    ]
    table = build_table(distinct, kv, largest, step_time_s)
    at = {id(instance): row for row, instance in enumerate(distinct)}
    first, second, third = (
        table_rows(table, [at[id(instance)] for instance in instances]) for instances, _ in roles
    )
    return first, second, third


def table_rows(table: StepTable, rows: list[int]) -> StepTable:
    """Some of a table's instances."""
    index = np.array(rows, dtype=int)
    return replace(
        table,
        decode_s=table.decode_s[index],
        added_s=table.added_s[index],
        lone_s=table.lone_s[index],
        past_s=table.past_s[index],
        kv_tokens=table.kv_tokens[index],
        gpus=table.gpus[index],
        ranks=table.ranks[index],
        held_share=table.held_share[index],
        overheads_s=table.overheads_s[index],
    )
