"""From kernel times to serving: what changes when an engine runs the kernels inside CUDA graphs.

Kernel tables are timed one launch at a time. In a serving engine fixed times overlap or vanish, and routed
experts reach less of their ceilings. A few ratios, fitted to measured serving runs by class of model, say so.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.catalog.efficiency import efficiency_for
from pdexplorer.physics.instance import Instance

CLASSES = ("dense", "moe", "moe_latent")
GRAPH_LAUNCH_S = 9e-6
"""Most a matrix product costs besides its work inside a CUDA graph, scales of its input included. Tables
timed from Python show 59 µs for vLLM's block-scaled fp8. Assumed: nothing else separates launch from kernel.
"""


@dataclass(frozen=True, slots=True)
class ServingRatios:
    """Serving over kernel tables, for one class of model. *_launch: fixed times; linear_layer_s: added by
    each
    linear-attention layer and step. kind, source, points and errors as in the efficiencies.
    """

    dense_launch_ratio: float = 1.0
    attention_launch_ratio: float = 1.0
    expert_launch_ratio: float = 1.0
    expert_parallel_launch_ratio: float = 1.0
    expert_compute_ratio: float = 1.0
    expert_weights_ratio: float = 1.0
    linear_layer_s: float = 0.0
    kind: str = "assumed"
    source: str = ""
    points: int = 0
    median_error_fraction: float = 0.0
    p90_error_fraction: float = 0.0
    spread_fraction: float = 0.0


NUMBERS = tuple(field.name for field in fields(ServingRatios))[:7]


def model_class(architecture: Architecture) -> str:
    """dense, moe, or moe_latent for experts behind latent attention."""
    if not architecture.experts:
        return "dense"
    return "moe_latent" if architecture.attention == "mla" else "moe"


@cache
def load_serving_ratios() -> dict[str, ServingRatios]:
    """The shipped ratios by class of model."""
    return {name: ServingRatios(**_document()[name]) for name in CLASSES}


def load_serving_waits() -> Mapping[str, Any]:
    """The shipped waits before a prompt is scheduled: request_s by engine, admission_fraction."""
    waits: Mapping[str, Any] = _document()["waits"]
    return waits


@cache
def _document() -> dict[str, Any]:
    text = files("pdexplorer.catalog.data").joinpath("efficiencies_serving.toml").read_text("utf-8")
    return tomllib.loads(text)


def in_serving(instance: Instance, ratios: ServingRatios | None = None) -> Instance:
    """The same instance with its kernels timed as a serving engine runs them; ratios: other than the
    shipped.
    """
    if not instance.engine.cuda_graphs:
        return instance
    a, e = instance.architecture, instance.efficiency
    r = ratios or load_serving_ratios()[model_class(a)]
    attention = e.attention
    if instance.engine.id == "sglang" and a.attention == "mla":
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
        gemm=replace(e.gemm, launch_s=min(e.gemm.launch_s, GRAPH_LAUNCH_S) * r.dense_launch_ratio),
        elementwise=replace(e.elementwise, launch_s=e.elementwise.launch_s * r.dense_launch_ratio),
        attention=replace(
            attention,
            prefill_launch_s=attention.prefill_launch_s * r.attention_launch_ratio,
            decode_launch_s=attention.decode_launch_s * r.attention_launch_ratio,
        ),
        experts=replace(
            e.experts,
            launch_s=e.experts.launch_s * r.expert_launch_ratio,
            ep_launch_s=e.experts.ep_launch_s * r.expert_parallel_launch_ratio,
            mfu=e.experts.mfu / r.expert_compute_ratio,
            mbu=e.experts.mbu / r.expert_weights_ratio,
        ),
    )
    overhead = instance.engine.step_overhead_s + a.linear_layers * r.linear_layer_s
    engine = replace(instance.engine, step_overhead_s=overhead)
    return replace(instance, efficiency=efficiency, engine=engine)
