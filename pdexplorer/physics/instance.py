"""One serving instance: a model on some GPUs of one kind, under one engine, with the numbers that time it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.efficiency import Efficiency, efficiency_for
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.formats import (
    bytes_per_kv_element,
    bytes_per_weight,
    compute_figure,
    compute_flop_per_s,
    missing_figure,
    split_formats,
)

if TYPE_CHECKING:
    from pdexplorer.catalog.engine import EngineProfile
    from pdexplorer.physics.plan import StepPlan


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How an instance spreads: tp is of attention; experts spread over tp × attention_dp GPUs, ep of them by
    expert.
    """

    tp: int
    pp: int = 1
    ep: int = 1
    attention_dp: int = 1

    @property
    def gpus(self) -> int:
        """GPUs of the instance."""
        return self.tp * self.attention_dp * self.pp

    @property
    def held_share(self) -> float:
        """Share of a prefill step after which the next can start: the first pipeline stage is free then. The
        step's bubble, (pp - 1) / pp of the rest, delays its own prompts and nobody else's.
        """
        return self.pp / (2.0 * self.pp - 1.0)

    @property
    def moe_tp(self) -> int:
        """GPUs that share one expert's matrices."""
        return max(self.tp * self.attention_dp // self.ep, 1)


@dataclass(frozen=True)
class Instance:
    """Everything a step's time and an instance's memory follow from."""

    accelerator: Accelerator
    architecture: Architecture
    parallelism: Parallelism
    weight_format: str
    kv_format: str
    engine: EngineProfile
    efficiency: Efficiency
    memory_fraction: float = 0.9
    kv_block_tokens: int = 16

    @property
    def gpus(self) -> int:
        """GPUs of the instance."""
        return self.parallelism.gpus

    @cached_property
    def plan(self) -> StepPlan:
        """The coefficients of its step time, computed once."""
        from pdexplorer.physics.plan import compile_plan

        return compile_plan(self)


def build_instance(
    accelerator: Accelerator,
    architecture: Architecture,
    parallelism: Parallelism,
    weight_format: str,
    kv_format: str,
    engine: EngineProfile,
    *,
    memory_fraction: float = 0.9,
    kv_block_tokens: int = 16,
    efficiency_entries: dict[str, tuple[Any, ...]] | None = None,
) -> Instance | Infeasible:
    """An instance whose step times can be computed, memory not yet checked; Infeasible names what is
    lacking.
    """
    bytes_per_weight(weight_format)
    bytes_per_kv_element(kv_format)
    problem = _parallelism_problem(architecture, parallelism)
    if problem is not None:
        return problem
    dense_format, expert_format = split_formats(weight_format, architecture)
    missing = [
        compute_figure(accelerator, fmt)
        for fmt in ("bf16", dense_format, expert_format)
        if isinstance(compute_flop_per_s(accelerator, fmt), Infeasible)
    ]
    if accelerator.memory_byte_per_s is None:
        missing.append("memory_bandwidth_gb_per_s")
    if parallelism.gpus > 1 and not (accelerator.scale_up_byte_per_s or accelerator.pcie_byte_per_s):
        missing.append("scale_up_gb_per_s_per_direction")
    if missing:
        return missing_figure(accelerator.id, *dict.fromkeys(missing))
    efficiency = efficiency_for(
        accelerator,
        engine.id,
        dense_format=dense_format,
        expert_format=expert_format,
        kv_format=kv_format,
        attention=architecture.attention,
        compressed=architecture.compressed,
        entries=efficiency_entries,
    )
    return Instance(
        accelerator=accelerator,
        architecture=architecture,
        parallelism=parallelism,
        weight_format=weight_format,
        kv_format=kv_format,
        engine=engine,
        efficiency=efficiency,
        memory_fraction=memory_fraction,
        kv_block_tokens=kv_block_tokens,
    )


def at_clock(accelerator: Accelerator, ratio: float) -> Accelerator:
    """The device with its compute units at `ratio` of their clock; memory, links and launches keep theirs.

    A power cap acts so: token generation "can be run with lower power", prompts need the compute (Splitwise,
    arXiv 2311.18677). Which clock a cap leaves differs by chip and load; who caps has to measure it.
    """
    if ratio == 1.0:
        return accelerator
    rates = {form: rate and rate * ratio for form, rate in accelerator.flop_per_s.items()}
    return replace(accelerator, flop_per_s=rates)


def _parallelism_problem(architecture: Architecture, parallelism: Parallelism) -> Infeasible | None:
    p = parallelism
    for name in ("tp", "pp", "ep", "attention_dp"):
        if getattr(p, name) < 1:
            raise ValueError(f"{name} = {getattr(p, name)} must be at least 1")
    if architecture.heads % p.tp:
        return Infeasible(
            "parallelism",
            f"tp = {p.tp} does not divide the {architecture.heads} attention heads of {architecture.name}",
        )
    if p.pp > architecture.layers:
        return Infeasible(
            "parallelism", f"pp = {p.pp} exceeds the {architecture.layers} layers of {architecture.name}"
        )
    if p.ep > 1:
        spread = p.tp * p.attention_dp
        if not architecture.experts:
            return Infeasible("parallelism", f"ep = {p.ep}, but {architecture.name} has no experts")
        if p.ep > spread or spread % p.ep:
            return Infeasible("parallelism", f"ep = {p.ep} does not divide tp × attention_dp = {spread}")
        if p.ep > architecture.experts:
            return Infeasible("parallelism", f"ep = {p.ep} exceeds the {architecture.experts} experts")
    return None
