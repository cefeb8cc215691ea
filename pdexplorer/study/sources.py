"""Where the numbers behind an answer come from, one line each."""

from pdexplorer.metrics.money import price_of
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.serving import load_serving_ratios
from pdexplorer.study.search.space import Space


def sources_of(space: Space) -> tuple[str, ...]:
    """Datasheet figures, efficiencies with their kind, prices, the model and the link; each line once."""
    lines: list[str] = []
    scenario, catalog = space.scenario, space.catalog
    if scenario.model.architecture is None:
        lines.append(f"model {scenario.model.name}: {catalog.model_sources[scenario.model.name]}")
    seen: set[tuple[str, str]] = set()
    for instance in (*space.prefill, *space.decode, *space.colocated):
        if (key := (instance.accelerator.id, instance.engine.id)) in seen:
            continue
        seen.add(key)
        lines += _accelerator(instance)
        lines.append(f"price: {price_of(instance.accelerator, scenario.money).text}")
    link = catalog.links.get(scenario.network.link)
    if link is not None:
        lines += [
            f"link {link.id} {key}: {figure.kind}, {figure.source}" for key, figure in link.figures.items()
        ]
    for engine in (catalog.engines[scenario.engine.profile], catalog.engines[scenario.colocated_engine]):
        lines += [
            f"engine {engine.id} {key}: {figure.kind}, {figure.source}"
            for key, figure in engine.figures.items()
        ]
    return tuple(dict.fromkeys(lines))


_READ = (
    "memory_gb",
    "driver_memory_mib",
    "memory_bandwidth_gb_per_s",
    "tflops_bf16_dense",
    "tflops_fp8_dense",
    "tflops_fp4_dense",
)


def _accelerator(instance: Instance) -> list[str]:
    device = instance.accelerator
    lines = []
    for key in _READ:
        figure = device.figures.get(key)
        if figure is not None and figure.value is not None:
            lines.append(f"{device.id} {key} = {figure.value:g}: {figure.kind}, {figure.source}")
    lines += [
        f"{device.id} efficiency ({fit.accelerator}, {fit.engine}, {fit.format}): {fit.kind}, {fit.source}"
        for fit in instance.efficiency.fits
    ]
    return [*lines, f"{device.id} efficiency {_serving(instance)}"]


def _serving(instance: Instance) -> str:
    """Which measured runs say how a server runs the kernels, or that none do."""
    ratios, family = load_serving_ratios(), instance.accelerator.family
    if not instance.engine.cuda_graphs:
        why = f"{instance.engine.id} runs without CUDA graphs"
    elif not ratios.know(instance.accelerator):
        why = f"no serving run of family {family} was measured"
    else:
        return f"(serving over kernels, {family}): {ratios.kind}, {ratios.source}"
    return f"(serving over kernels, none): assumed, {why}: kernel times as they stand"
