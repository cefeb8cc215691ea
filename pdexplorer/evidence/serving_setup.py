"""How a measured run was served, as far as its file does not say: read off public launch scripts, or
assumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import NODE_GPUS, ServingPoint


@dataclass(frozen=True, slots=True)
class ServerSetup:
    """Scheduler settings of an engine in the benchmarks. chunk_tokens: budget of one step and rank."""

    chunking: Literal["chunked", "prefill_first"]
    chunk_tokens: int
    memory_fraction: float
    source: str


_SOURCE = "launch scripts of github SemiAnalysisAI/InferenceX benchmarks/single_node"

SETUPS: Mapping[str, ServerSetup] = MappingProxyType(
    {
        "vllm": ServerSetup("chunked", 8192, 0.95, f"{_SOURCE}: max-num-batched-tokens 8192"),
        "trtllm": ServerSetup("chunked", 8192, 0.95, f"{_SOURCE}: max_num_tokens 8192"),
        "sglang": ServerSetup(
            "prefill_first", 16384, 0.95, f"{_SOURCE}: chunked-prefill-size 16384 to 32768"
        ),
    }
)

ROUNDS = 10
"""Requests a slot sends: num-prompts is ten times max-concurrency in the same scripts."""

TOKENS_PER_STEP = 1.7
"""Tokens a step yields with multi-token prediction: one draft accepted 85% of the time (DeepSeek-V3
report) less
the cost of verifying it, more with three drafts; assumed, not fitted.
"""


def predicts_several_tokens(point: ServingPoint) -> bool:
    """Whether a run used multi-token prediction: told by the image and date in its source text.

    TensorRT-LLM runs of DeepSeek in image 1.2.0rc6.post3, and in 1.1.0rc2.post2 from 2026 on, are the dump's
    MTP configurations; the plain ones ran in 1.2.0rc6.post2 and, until 2025, in 1.1.0rc2.post2.
    """
    source = point.raw["silicon_data_source"]
    if point.engine != "trtllm" or not point.model.startswith("deepseek"):
        return False
    return "1.2.0rc6.post3" in source or ("1.1.0rc2.post2" in source and "measured=2026" in source)


def admission_steps(point: ServingPoint, catalog: Catalog) -> int:
    """Steps a prompt may have to wait before the scheduler looks at it, as launched.

    SGLang on Blackwell: scheduler-recv-interval 10, or 30 from 16 in flight on. TensorRT-LLM: batch_wait
    of 20
    iterations for Llama-70B at 1k/1k below TP 8, and batching waits of DeepSeek's configurations.
    """
    if point.own_sweep or point.colocated is None:
        return 0
    if point.engine == "sglang" and catalog.accelerators[point.accelerator].family == "blackwell":
        return 30 if point.concurrency >= 16 else 10
    if point.engine == "trtllm":
        if catalog.models[point.model].attention == "mla":
            return 20
        pool = point.colocated
        short = point.input_tokens == point.output_tokens == 1024 and pool is not None and pool.tp < NODE_GPUS
        return 20 if short and not catalog.models[point.model].experts else 0
    return 0


def named_outlier(point: ServingPoint) -> str:
    """Why a run is an outlier of its own file, or nothing. Told by configuration; such rows are scored,
    not fitted.
    """
    own_sweep = point.own_sweep
    if (point.model, point.accelerator, point.concurrency) == ("gpt_oss_120b", "h100_sxm", 512):
        return "TTFT of minutes and the TPOT of a handful in flight: the server admitted far fewer than 512"
    if own_sweep and point.model == "qwen3_235b_a22b":
        return "TPOT of 35 to 58 ms whatever the batch and lengths: steps bound by the host, no CUDA graphs"
    if own_sweep and point.accelerator == "gb200" and point.model == "qwen3_32b":
        return "TPOT five times that of one request as soon as two are in flight, falling again later"
    if own_sweep and point.engine == "trtllm" and point.model.startswith("deepseek"):
        return "TPOT of 85 to 92 ms whatever the batch, three times that of the same configuration elsewhere"
    if point.engine == "sglang" and "measured=2025-11-10" in point.raw["silicon_data_source"]:
        return "TTFT ten times that of the same configuration in later runs, at the same TPOT"
    return ""
