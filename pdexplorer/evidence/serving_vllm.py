"""How vLLM was launched in the public benchmarks: which steps of prompts its CUDA graphs hold.

From launch scripts of github SemiAnalysisAI/InferenceX benchmarks/single_node and its perf-changelog.yaml.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.physics.serving import model_class

_TUNED_FROM = "2026-04-04"
"""Since then InferenceX launches Kimi-K2.5 on B200 with the flags of `tuned`."""

_LAYER_LAUNCHES: Mapping[str, int] = MappingProxyType({"dense": 10, "experts": 25, "latent": 40})
_LAUNCH_S = 50e-6
"""Launches of a layer by class of model, assumed, and what each takes the host between compiled pieces:
fitted as one ratio to the runs of vLLM that met it, it stayed within a twentieth of this start.
"""


def host_layer_s(point: ServingPoint, catalog: Catalog) -> float:
    """What launching the kernels of a layer one by one takes the host."""
    return _LAUNCH_S * _LAYER_LAUNCHES[model_class(catalog.models[point.model])]


def tuned(point: ServingPoint) -> bool:
    """Whether vLLM was launched with max-cudagraph-capture-size 2048, max-num-batched-tokens of two prompts
    and no prefix cache: MiniMax on B200 from the first scripts with vLLM 0.19 on, Kimi there a little later.
    """
    if point.engine != "vllm" or point.accelerator != "b200_sxm":
        return False
    if point.model.startswith("minimax"):
        return point.raw.get("backend_version", "").startswith("0.19")
    return point.model.startswith("kimi") and point.measured_on >= _TUNED_FROM


def graph_tokens(point: ServingPoint) -> float:
    """Most tokens of a step of prompts that a CUDA graph holds. vLLM captures up to twice max-num-seqs, at
    most 512; max-num-seqs is the load in some scripts. Other engines' are not modelled.
    """
    if point.engine != "vllm":
        return math.inf
    if tuned(point) or point.model == "gpt_oss_120b":
        return 2048.0
    as_loaded = point.weight_format == "nvfp4" or point.model == "llama_3_1_70b"
    return min(2.0 * point.concurrency, 512.0) if as_loaded else 512.0
