"""From a pool of a scenario to the instance that serves it."""

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance, Parallelism, at_clock, build_instance
from pdexplorer.physics.memory import kv_capacity_tokens
from pdexplorer.physics.serving import in_serving
from pdexplorer.scenario.scenario import Scenario


def resolve_instance(
    catalog: Catalog,
    scenario: Scenario,
    *,
    accelerator_id: str,
    tp: int,
    pp: int = 1,
    ep: int = 1,
    attention_dp: int = 1,
    weight_format: str | None = None,
    engine_id: str | None = None,
    clock_ratio: float = 1.0,
) -> Instance | Infeasible:
    """The instance a pool of the scenario describes, timed as a server runs it (`in_serving`), or the limit
    that keeps it from running. engine_id: other than the scenario's engine.profile. clock_ratio: share of the
    compute rate left by a power cap.

    Limits: missing_figure, parallelism, memory. ValueError names an unknown id and what is allowed.
    """
    if accelerator_id not in catalog.accelerators:
        allowed = ", ".join(sorted(catalog.accelerators))
        raise ValueError(f"accelerator = {accelerator_id!r} is not one of {allowed}")
    engine_id = engine_id or scenario.engine.profile
    if engine_id not in catalog.engines:
        raise ValueError(f"engine = {engine_id!r} is not one of {', '.join(sorted(catalog.engines))}")
    architecture = scenario.model.architecture
    if architecture is None:
        if scenario.model.name not in catalog.models:
            allowed = ", ".join(sorted(catalog.models))
            raise ValueError(f"model.name = {scenario.model.name!r} is not one of {allowed}")
        architecture = catalog.models[scenario.model.name]
    instance = build_instance(
        at_clock(catalog.accelerators[accelerator_id], clock_ratio),
        architecture,
        Parallelism(tp=tp, pp=pp, ep=ep, attention_dp=attention_dp),
        weight_format or scenario.model.weight_format,
        scenario.model.kv_format,
        catalog.engines[engine_id],
        memory_fraction=scenario.engine.memory_fraction,
        kv_block_tokens=scenario.engine.kv_block_tokens,
    )
    if isinstance(instance, Infeasible):
        return instance
    capacity = kv_capacity_tokens(instance)
    return capacity if isinstance(capacity, Infeasible) else in_serving(instance)
