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

from pdexplorer.catalog.efficiency import efficiency_for
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.plan import StepPlan

GRAPH_LAUNCH_S = 9e-6
"""Most a matrix product costs besides its work inside a CUDA graph, scales of its input included. Tables
timed from Python show 59 µs for vLLM's block-scaled fp8. Assumed: nothing else separates launch from kernel.
"""


@dataclass(frozen=True, slots=True)
class KernelRatios:
    """Serving time over that of the kernel tables, by group of kernels; floats or arrays.

    *_launch: fixed times; *_weights: streaming them; cache: reading KV; compute: products and experts where
    arithmetic bounds them, attention_compute: prefill attention; overhead: the engine's per step.
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
    overhead: Any = 1.0

    def times(self, factor: Any) -> "KernelRatios":
        """All of them slower by one factor."""
        return KernelRatios(**{entry.name: getattr(self, entry.name) * factor for entry in fields(self)})


NUMBERS = tuple(entry.name for entry in fields(KernelRatios))[:-1]


@dataclass(frozen=True, slots=True)
class ServingRatios:
    """The fitted ratios. compute_by_format: multiplies `compute` on one family and format of weights ("hopper
    fp8"), 1 for those never measured; young: slower by this where an engine had just learnt a mixture of
    experts. kind, source, points and errors as in the efficiencies.
    """

    kernels: KernelRatios = field(default_factory=KernelRatios)
    compute_by_format: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
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
        return len(NUMBERS) + len(self.compute_by_format) + 1

    def of(self, instance: Instance, young: bool = False) -> KernelRatios:
        """The ratios of one instance; young: its engine had just learnt the model. A family without measured
        runs keeps its tables' times: on workstation cards they are nearer than the ratios of servers.
        """
        family = f"{instance.accelerator.family} "
        if self.compute_by_format and not any(key.startswith(family) for key in self.compute_by_format):
            return KernelRatios()
        own = self.compute_by_format.get(format_key(instance), 1.0)
        ratios = replace(self.kernels, compute=self.kernels.compute * own)
        return ratios.times(self.young) if young else ratios


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
    table = _document()["kernels"]
    numbers = KernelRatios(**{name: table[name] for name in NUMBERS})
    rest = {key: table[key] for key in table if key not in NUMBERS}
    return ServingRatios(numbers, MappingProxyType(_document()["compute_by_format"]), **rest)


def load_serving_waits() -> Mapping[str, Any]:
    """What a request costs besides steps: request_s by engine and class of model, draft_acceptance."""
    waits: Mapping[str, Any] = _document()["waits"]
    return waits


@cache
def _document() -> dict[str, Any]:
    text = files("pdexplorer.catalog.data").joinpath("efficiencies_serving.toml").read_text("utf-8")
    return tomllib.loads(text)


def in_serving(instance: Instance, ratios: ServingRatios | None = None, young: bool = False) -> Instance:
    """The same instance with its kernels timed as a server runs them; ratios: other than the shipped. One
    without CUDA graphs stays as it is.
    """
    if not instance.engine.cuda_graphs:
        return instance
    r = (ratios or load_serving_ratios()).of(instance, young)
    e = instance.efficiency
    attention, experts, collective = e.attention, e.experts, e.collective
    if instance.engine.id == "sglang" and instance.architecture.attention == "mla":
        # Its servers are launched with TensorRT-LLM's latent kernel, not with the one in the tables.
        attention = efficiency_for(
            instance.accelerator,
            "trtllm",
            dense_format="bf16",
            expert_format="bf16",
            kv_format=instance.kv_format,
            attention="mla",
        ).attention
    efficiency = replace(
        e,
        gemm=replace(
            e.gemm,
            launch_s=min(e.gemm.launch_s, GRAPH_LAUNCH_S) * r.product_launch,
            mbu=e.gemm.mbu / r.product_weights,
            mfu=e.gemm.mfu / r.compute,
        ),
        head=replace(
            e.head,
            launch_s=e.head.launch_s * r.product_weights,
            mbu=e.head.mbu / r.product_weights,
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
            prefill_mfu=attention.prefill_mfu / r.attention_compute,
            decode_mbu=attention.decode_mbu / r.cache,
            decode_mfu=attention.decode_mfu / r.cache,
            decode_head_s=attention.decode_head_s * r.cache,
            serial_key_s=attention.serial_key_s * r.cache,
        ),
        experts=replace(
            experts,
            launch_s=experts.launch_s * r.expert_launch,
            ep_launch_s=experts.ep_launch_s * r.expert_launch,
            mbu=experts.mbu / r.expert_weights,
            mfu=experts.mfu / r.compute,
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
    return replace(instance, efficiency=efficiency, engine=engine)


_PLAN_TERMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "product_launch": (
            *("dense_launch_s", "dense_small_launch_s"),
            *("element_launch_s", "element_token_s"),
        ),
        "product_weights": (
            *("dense_weights_s", "dense_activation_s"),
            *("head_launch_s", "head_weights_s"),
        ),
        "expert_launch": ("expert_launch_s",),
        "expert_weights": ("expert_weights_s",),
        "attention_launch": ("prefill_launch_s", "decode_launch_s"),
        "cache": (
            *("prefill_read_full_s", "prefill_read_window_s", "decode_sequence_s"),
            *("decode_context_full_s", "decode_context_window_s"),
            *("prefill_serial_full_s", "prefill_serial_window_s"),
        ),
        "collective": ("send_latency_s", "send_token_s"),
        "compute": ("dense_compute_s", "head_compute_s", "expert_compute_s"),
        "attention_compute": ("prefill_token_s", "prefill_pair_full_s", "prefill_pair_window_s"),
        "overhead": ("step_overhead_s",),
    }
)


def scale_plan(plan: StepPlan, ratios: KernelRatios) -> StepPlan:
    """The plan of an instance under ratios, from the plan without: what `in_serving` compiles to, apart from
    the norms of queries and keys. A fit tries ratios thousands of times.
    """
    terms: dict[str, Any] = {
        term: _scaled(getattr(plan, term), getattr(ratios, name))
        for name, group in _PLAN_TERMS.items()
        for term in group
    }
    for name in ("reduce_step", "reduce_rank"):
        reduce = getattr(plan, name)
        if reduce is not None:
            terms[name] = replace(
                reduce,
                latency_s=reduce.latency_s * ratios.collective,
                bandwidth_s=reduce.bandwidth_s * ratios.collective,
                direct_token_s=reduce.direct_token_s * ratios.collective,
            )
    return replace(plan, **terms)


def _scaled(term: Any, ratio: Any) -> Any:
    """A term that a plan lacks stays a plain zero, by which kernels know."""
    return term if isinstance(term, float) and term == 0.0 else term * ratio
