"""From kernel times to serving: what changes when an engine runs the kernels inside a real server.

Kernel tables are timed one launch at a time. Inside CUDA graphs fixed times overlap or vanish; experts are
uneven, collectives wait for the slowest, and a prompt's products reach less of their ceiling in some formats
than a table says. One ratio for each group of kernels, fitted to measured serving runs, says so.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.efficiency import Efficiency, efficiency_for
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.physics.instance import Instance

GRAPH_LAUNCH_S = 9e-6
"""Most a matrix product costs besides its work inside a CUDA graph, scales of its input included. Tables
timed from Python show 59 µs for vLLM's block-scaled fp8. Assumed: nothing else separates launch from kernel.
"""


@dataclass(frozen=True, slots=True)
class KernelRatios:
    """Serving time over that of the kernel tables, by group of kernels; floats or arrays.

    *_launch: fixed times; *_weights: streaming them; cache: reading KV; compute: products and experts where
    arithmetic bounds them, attention_compute: prefill attention; uneven: what the fullest GPU.s experts get
    over the mean; overhead: the engine's per step.
    """

    product_launch: Any = 1.0
    product_weights: Any = 1.0
    expert_launch: Any = 1.0
    expert_weights: Any = 1.0
    attention_launch: Any = 1.0
    cache: Any = 1.0
    collective: Any = 1.0
    compute: Any = 1.0
    attention_compute: Any = 1.0
    uneven: Any = 1.0
    overhead: Any = 1.0

    def times(self, factor: Any) -> "KernelRatios":
        """All of them slower by one factor."""
        return KernelRatios(**{entry.name: getattr(self, entry.name) * factor for entry in fields(self)})

    def at_least(self, floors: "KernelRatios") -> "KernelRatios":
        """Each raised to its floor."""
        return KernelRatios(
            **{e.name: max(getattr(self, e.name), getattr(floors, e.name)) for e in fields(self)}
        )


NUMBERS = tuple(entry.name for entry in fields(KernelRatios))[:-1]


def _no_factors() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ServingRatios:
    """The fitted ratios. by_class, by_family: factors on some of them by class of model and by family of
    accelerators (Blackwell launches a kernel before the one ahead has ended); compute_by_format: factors on
    `compute` by family and format of weights ("hopper fp8"); overhead: that ratio by engine and class
    ("vllm dense"); 1 where never measured. young: slower by this where an engine had just learnt a mixture of
    experts. kind, source, points and errors as in the efficiencies.
    """

    kernels: KernelRatios = field(default_factory=KernelRatios)
    by_class: Mapping[str, Mapping[str, float]] = field(default_factory=_no_factors)
    by_family: Mapping[str, Mapping[str, float]] = field(default_factory=_no_factors)
    compute_by_format: Mapping[str, float] = field(default_factory=_no_factors)
    overhead: Mapping[str, float] = field(default_factory=_no_factors)
    young: float = 1.0
    kind: str = "assumed"
    source: str = ""
    points: int = 0
    median_error_fraction: float = 0.0
    p90_error_fraction: float = 0.0
    spread_fraction: float = 0.0

    @property
    def count(self) -> int:
        """How many numbers they are."""
        shared = sum(len(f) for f in (*self.by_class.values(), *self.by_family.values()))
        return len(NUMBERS) + shared + len(self.compute_by_format) + len(self.overhead) + 1

    def know(self, accelerator: Accelerator) -> bool:
        """Whether runs of its family were measured."""
        family = f"{accelerator.family} "
        return not self.compute_by_format or any(key.startswith(family) for key in self.compute_by_format)

    def of(self, instance: Instance, young: bool = False) -> KernelRatios:
        """The ratios of one instance, none of which takes a kernel past its chip's peak; young: its engine
        had just learnt the model. A family without measured runs keeps its tables' times: on workstation
        cards they are nearer than the ratios of servers.
        """
        if not self.know(instance.accelerator):
            return KernelRatios()
        kind = model_class(instance.architecture)
        of_class = self.by_class.get(kind, {})
        of_family = self.by_family.get(instance.accelerator.family, {})
        values = {
            name: getattr(self.kernels, name) * of_class.get(name, 1.0) * of_family.get(name, 1.0)
            for name in NUMBERS
        }
        values["compute"] *= self.compute_by_format.get(format_key(instance), 1.0)
        # An engine that launches layer by layer is slow for another reason than those it was fitted to.
        eager = instance.engine.layer_overhead_s > 0
        usual = self.overhead.get(f"{instance.engine.id} {kind}", 1.0) * of_family.get("overhead", 1.0)
        overhead = 1.0 if eager else usual
        ratios = KernelRatios(**values, overhead=overhead).times(self.young if young else 1.0)
        return ratios.at_least(peak_ratios(instance.efficiency))


def model_class(architecture: Architecture) -> str:
    """Which of three kinds of kernels a model needs most: "latent" attention, "experts", or "dense"."""
    if architecture.attention == "mla":
        return "latent"
    return "experts" if architecture.experts else "dense"


def peak_ratios(e: Efficiency) -> KernelRatios:
    """The least each ratio may be: below it a kernel would pass its chip's peak."""
    return KernelRatios(
        product_launch=0.0,
        product_weights=min(max(e.gemm.mbu, e.head.mbu), 1.0),
        expert_launch=0.0,
        expert_weights=min(e.experts.mbu, 1.0),
        attention_launch=0.0,
        cache=min(max(e.attention.decode_mbu, e.attention.decode_mfu), 1.0),
        collective=min(max(e.collective.bandwidth_fraction, e.collective.direct_fraction), 1.0),
        compute=min(max(e.gemm.mfu, e.head.mfu, e.experts.mfu), 1.0),
        attention_compute=min(e.attention.prefill_mfu, 1.0),
        uneven=0.0,
        overhead=0.0,
    )


EMULATED, REQUANTISED = "blackwell fp8_block", "blackwell fp8_block requantised"
"""Blackwell's tensor cores do not know block-scaled fp8: an engine emulates it, or requantises the scales
(TensorRT-LLM, DeepGEMM), which costs less."""


def format_key(instance: Instance) -> str:
    """Family of the accelerator and format of the weights, and how an engine does without the format."""
    key = f"{instance.accelerator.family} {instance.weight_format}"
    return REQUANTISED if key == EMULATED and instance.engine.id == "trtllm" else key


def requantising(ratios: "ServingRatios") -> "ServingRatios":
    """The ratios of a launch that turns DeepGEMM on, whatever its engine's default."""
    formats = dict(ratios.compute_by_format)
    if REQUANTISED in formats:
        formats[EMULATED] = formats[REQUANTISED]
    return replace(ratios, compute_by_format=MappingProxyType(formats))


@cache
def load_serving_ratios() -> ServingRatios:
    """The shipped ratios."""
    return serving_ratios_of(serving_document())


def serving_ratios_of(document: Mapping[str, Any]) -> ServingRatios:
    """The ratios in a parsed efficiencies_serving.toml."""
    table = document["kernels"]
    return ServingRatios(
        kernels=KernelRatios(**{name: table[name] for name in NUMBERS}),
        by_class=MappingProxyType(document["by_class"]),
        by_family=MappingProxyType(document["by_family"]),
        compute_by_format=MappingProxyType(document["compute_by_format"]),
        overhead=MappingProxyType(document["overhead"]),
        **{key: table[key] for key in table if key not in NUMBERS},
    )


@cache
def serving_document() -> dict[str, Any]:
    """The shipped efficiencies_serving.toml, parsed. waits: what a request costs besides steps."""
    text = files("pdexplorer.catalog.data").joinpath("efficiencies_serving.toml").read_text("utf-8")
    return tomllib.loads(text)


def in_serving(instance: Instance, ratios: ServingRatios | None = None, young: bool = False) -> Instance:
    """The same instance with its kernels timed as a server runs them; ratios: other than the shipped. One
    without CUDA graphs stays as it is.
    """
    if not instance.engine.cuda_graphs:
        return instance
    e = instance.efficiency
    if instance.engine.id == "sglang" and instance.architecture.attention == "mla":
        # Its servers are launched with TensorRT-LLM's latent kernel, not with the one in the tables.
        latent = efficiency_for(
            instance.accelerator,
            "trtllm",
            dense_format="bf16",
            expert_format="bf16",
            kv_format=instance.kv_format,
            attention="mla",
            compressed=instance.architecture.compressed,
        ).attention
        e = replace(e, attention=latent)
    ratios = ratios or load_serving_ratios()
    r = ratios.of(replace(instance, efficiency=e), young)
    attention, experts, collective = e.attention, e.experts, e.collective
    efficiency = replace(
        e,
        gemm=replace(
            e.gemm,
            launch_s=min(e.gemm.launch_s, GRAPH_LAUNCH_S) * r.product_launch,
            mbu=min(e.gemm.mbu, 1.0) / r.product_weights,
            mfu=e.gemm.mfu / r.compute,
        ),
        head=replace(
            e.head,
            launch_s=e.head.launch_s * r.product_weights,
            mbu=min(e.head.mbu, 1.0) / r.product_weights,
            mfu=e.head.mfu / r.compute,
        ),
        elementwise=replace(
            e.elementwise,
            launch_s=e.elementwise.launch_s * r.product_launch,
            mbu=e.elementwise.mbu / r.product_launch,
        ),
        attention=replace(
            attention,
            prefill_launch_s=attention.prefill_launch_s * r.attention_launch,
            decode_launch_s=attention.decode_launch_s * r.attention_launch,
            prefill_mfu=min(attention.prefill_mfu, 1.0) / r.attention_compute,
            decode_mbu=min(attention.decode_mbu, 1.0) / r.cache,
            decode_mfu=attention.decode_mfu / r.cache,
            decode_head_s=attention.decode_head_s * r.cache,
            serial_key_s=attention.serial_key_s * r.cache,
        ),
        experts=replace(
            experts,
            launch_s=experts.launch_s * r.expert_launch,
            ep_launch_s=experts.ep_launch_s * r.expert_launch,
            mbu=min(experts.mbu, 1.0) / r.expert_weights,
            mfu=experts.mfu / r.compute,
            ep_imbalance_ratio=1.0 + (experts.ep_imbalance_ratio - 1.0) * r.uneven,
        ),
        collective=replace(
            collective,
            latency_s=collective.latency_s * r.collective,
            bandwidth_fraction=collective.bandwidth_fraction / r.collective,
            direct_fraction=collective.direct_fraction / r.collective,
        ),
    )
    engine = replace(
        instance.engine,
        step_overhead_s=instance.engine.step_overhead_s * r.overhead,
        layer_overhead_s=instance.engine.layer_overhead_s * r.overhead,
    )
    if ratios.know(instance.accelerator):
        efficiency = _as_sure_as_served(efficiency, ratios.spread_fraction)
    return replace(instance, efficiency=efficiency, engine=engine)


def _as_sure_as_served(efficiency: Efficiency, spread_fraction: float) -> Efficiency:
    """No part is surer than whole steps of measured runs turned out to be."""
    parts = {}
    for entry in fields(efficiency):
        part = getattr(efficiency, entry.name)
        spread = max(part.fit.spread_fraction, spread_fraction)
        parts[entry.name] = replace(part, fit=replace(part.fit, spread_fraction=spread))
    return replace(efficiency, **parts)
