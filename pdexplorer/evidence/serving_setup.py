"""How a measured run was served, as far as its file does not say: read off public launch scripts, or
assumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.evidence.serving_points import CLIENT_LIMIT, SWEPT_MIDDLE, ServingPoint
from pdexplorer.evidence.serving_pools import NODE_GPUS, WHOLE_FLEET
from pdexplorer.evidence.serving_sglang import drafting, launch
from pdexplorer.evidence.serving_vllm import tuned


@dataclass(frozen=True, slots=True)
class ServerSetup:
    """Scheduler settings of an engine in the benchmarks. memory_fraction: of the device's memory for weights
    and KV; with `of_free`, of what the weights leave. ahead: it chooses a step's batch as the one before
    begins. TensorRT-LLM's PyTorch backend does, and splits no prompt, unless told otherwise
    (disable_overlap_scheduler, enable_chunked_prefill), which no script does.
    """

    chunking: Literal["chunked", "whole", "prefill_first"]
    memory_fraction: float
    of_free: bool
    source: str
    ahead: bool = False


_SOURCE = "launch scripts of github SemiAnalysisAI/InferenceX benchmarks/single_node"

SETUPS: Mapping[str, ServerSetup] = MappingProxyType(
    {
        "vllm": ServerSetup("chunked", 0.9, False, f"{_SOURCE}: gpu-memory-utilization 0.9"),
        "trtllm": ServerSetup("whole", 0.85, True, f"{_SOURCE}: free_gpu_memory_fraction 0.8 to 0.9", True),
        "sglang": ServerSetup("prefill_first", 0.85, False, f"{_SOURCE}: mem-fraction-static 0.82 to 0.85"),
    }
)

TIGHT_MEMORY_FRACTION = 0.97
"""Tried where weights do not fit otherwise: such runs were launched with what makes them fit."""

ROUNDS = 10
"""Requests a slot sends: num-prompts is ten times max-concurrency in the same scripts."""

B200_RECIPES_REWRITTEN = "2026-03-01"
"""Split recipes of B200 in fp8 (b200-fp8/8k1k-stp.yaml of February, 8k1k.yaml since) in NVIDIA/srt-slurm."""

WARMED_UP_FROM = "2025-12-01"
"""Since then the scripts pass num-warmups, twice the concurrency."""

YOUNG_UNTIL = "2025-11-10"
"""The first public dump: mixtures of experts ran on kernels that later releases replaced."""


ONE_PROMPT_UNTIL = "2026-01-01"
"""Until then TensorRT-LLM's budget for DeepSeek held one prompt beside the decodes; since the same scripts
also evaluate answers (RUN_EVAL) it is 8,192 tokens at least. The day is assumed, between two dumps."""


@dataclass(frozen=True, slots=True)
class Admission:
    """How a scheduler makes a prompt wait. steps: at most; polled: it looks every so many steps, else it
    waits for company so long after the first prompt has come.
    """

    steps: int
    polled: bool


def chunk_tokens(point: ServingPoint) -> int:
    """Prompt tokens of one step and rank, from the same scripts (chunked-prefill-size, max_num_tokens)."""
    if point.engine == "vllm":
        return 2 * point.input_tokens if tuned(point) else 8192
    if point.engine == "sglang":
        return launch(point).chunk_tokens
    if point.weight_format == "mxfp4":
        return 20000
    if point.own_sweep:
        # github ai-dynamo/aiconfigurator, generator/rule_plugin/benchmark/trtllm.rule, by the same authors.
        return point.input_tokens + point.concurrency + 1500
    if point.colocated is None:
        return 8192 if point.model.startswith("deepseek") else 16384
    if not point.model.startswith("deepseek"):
        # max_num_tokens is max-model-len: a prompt and its answer.
        return point.input_tokens + min(point.output_tokens, 1024)
    held = point.concurrency // point.colocated.attention_dp
    if drafts(point):
        return (drafts(point) + 1) * held + point.input_tokens + 64
    one = point.concurrency + point.input_tokens + 64
    return one if "" < point.measured_on < ONE_PROMPT_UNTIL else max(8192, one)


def slots(point: ServingPoint) -> int:
    """Requests one instance runs at once (max-running-requests, max_batch_size). The authors' sweep of
    Llama-3.1-8B ran with one fewer than the load held in flight: assumed, since its TTFT holds the length of
    a whole request over the number in flight.
    """
    assert point.colocated is not None
    each = max(round(point.concurrency / point.colocated.instances), 1)
    if point.own_sweep and point.engine == "trtllm" and point.model == "llama_3_1_8b":
        return max(each - 1, 1)
    if CLIENT_LIMIT in point.notes:
        return SWEPT_MIDDLE
    if point.engine == "sglang":
        return min(each, launch(point).running)
    return each


# From recipes of github NVIDIA/srt-slurm, which InferenceX .github/configs/nvidia-master.yaml names.
_DECODE_BATCHES = (1, 2, 4, 8, 16, 32, 48, 64, 128, 192, 256, 384, 512, 768, 1024)
_SWEPT_BATCHES: Mapping[tuple[str, str, int, int], int] = MappingProxyType(
    {("gb200", "nvfp4", 4, 192): 32, ("b200_sxm", "nvfp4", 5, 180): 32, ("gb200", "nvfp4", 4, 564): 128}
)
"""Recipes run under several loads with one largest batch: by chip, format, decode instances and the heaviest
of the loads. The last one's recipe was not found: its batch is assumed from the rule below."""


def decode_slots(point: ServingPoint) -> int:
    """Requests a rank of a decode instance runs at once. TensorRT-LLM's recipes put a little more in flight
    than their largest batch, a round number, holds (36 over four of 8), so that it is always full; those of
    B200 in fp8 and of H200 leave room, as SGLang's and vLLM's do.
    """
    if point.recipe is not None:
        return point.recipe.decode.batch or point.concurrency
    pool = point.decode
    assert pool is not None
    ranks = pool.instances * pool.attention_dp
    each = point.concurrency / ranks
    roomy = point.accelerator == "h200_sxm" or (
        point.accelerator == "b200_sxm" and point.weight_format != "nvfp4"
    )
    if point.engine != "trtllm" or roomy:
        return point.concurrency
    for (chip, weights, instances, heaviest), batch in _SWEPT_BATCHES.items():
        same = (chip, weights, instances) == (point.accelerator, point.weight_format, pool.instances)
        if same and pool.attention_dp == 1 and point.concurrency <= heaviest:
            return batch
    if point.concurrency == 6 and ranks == 3:
        return 1  # recipes ..._gen3_tep8_batch1 and ..._gen3_tep16_batch1
    return max(batch for batch in _DECODE_BATCHES if batch <= max(each, 1.0))


def turns_deep_gemm_on(point: ServingPoint) -> bool:
    """Whether a split fleet was launched with it: SGLang's recipes of GB200 are (SGLANG_JIT_DEEPGEMM), those
    of B200 switch it off (SGLANG_ENABLE_JIT_DEEPGEMM false) until they were rewritten. TensorRT-LLM
    requantises by itself.
    """
    switched_off = point.accelerator == "b200_sxm" and point.measured_on < B200_RECIPES_REWRITTEN
    return point.engine != "sglang" or not switched_off


def rounds(point: ServingPoint) -> int:
    """Requests a slot sends. The authors' own SGLang sweeps send one wave: their mean TTFT is a first wave's
    at any concurrency. Where the client holds all of a run's requests, they are one wave.
    """
    if CLIENT_LIMIT in point.notes:
        return 1
    return 1 if point.own_sweep and point.engine == "sglang" else ROUNDS


def compiles(point: ServingPoint) -> bool:
    """Whether a first wave met kernels not yet compiled: clients did not warm up then, and SGLang builds the
    kernels of a full chunk when the first one comes.
    """
    cold = point.engine == "sglang" and not point.own_sweep and "" < point.measured_on < WARMED_UP_FROM
    return cold and point.concurrency * point.input_tokens * point.length_ratios[1] > chunk_tokens(point)


def young(point: ServingPoint, catalog: Catalog) -> bool:
    """Whether the engine had just learnt to serve mixtures of experts."""
    date = point.measured_on
    return not point.problem and "" < date <= YOUNG_UNTIL and catalog.models[point.model].experts > 0


def drafts(point: ServingPoint) -> int:
    """Tokens drafted by multi-token prediction, 0 without: as a recipe or a launch says, else three, or one
    with attention DP.
    """
    if point.recipe is not None:
        return point.recipe.draft_tokens
    if point.engine == "sglang":
        return launch(point).drafts
    if not predicts_several_tokens(point) or point.colocated is None:
        return 0
    return 1 if point.colocated.attention_dp > 1 else 3


_DRAFT_HOST_S = 3e-3
"""Assumed; no number is fitted for it."""


def draft_host_s(point: ServingPoint) -> float:
    """Seconds of a step with drafts in which the accelerator waits for its host: SGLang turns its overlap
    scheduler off where it drafts (server_args, unless SGLANG_ENABLE_SPEC_V2 is exported; the scripts only
    assign it).
    """
    return _DRAFT_HOST_S if point.engine == "sglang" and drafts(point) else 0.0


def runs_eagerly(point: ServingPoint) -> bool:
    """Whether a run had no CUDA graphs: its TPOT is the same whatever the batch and lengths."""
    alone = point.own_sweep and point.colocated is not None
    return alone and point.engine == "vllm" and point.model == "qwen3_235b_a22b"


def predicts_several_tokens(point: ServingPoint) -> bool:
    """Whether a run used multi-token prediction: told by the image and date in its source text.

    TensorRT-LLM runs of DeepSeek in image 1.2.0rc6.post3, and in 1.1.0rc2.post2 from 2026 on, are the dump's
    MTP configurations; the plain ones ran in 1.2.0rc6.post2 and, until 2025, in 1.1.0rc2.post2.
    """
    source = point.raw["silicon_data_source"]
    if point.engine != "trtllm" or not point.model.startswith("deepseek"):
        return False
    return "1.2.0rc6.post3" in source or ("1.1.0rc2.post2" in source and "measured=2026" in source)


def company_steps(point: ServingPoint, catalog: Catalog) -> int:
    """Steps that a rank of attention DP waits with a prompt for the others to have one too: TensorRT-LLM's
    attention_dp_config in the same scripts (enable_balance, timeout_iters 60).
    """
    pool = point.colocated
    latent = catalog.models[point.model].attention == "mla"
    told = point.engine == "trtllm" and latent and not point.own_sweep
    return 60 if told and pool is not None and pool.attention_dp > 1 else 0


def admission(point: ServingPoint, catalog: Catalog) -> Admission:
    """How long a prompt may have to wait before the scheduler takes it, as launched.

    SGLang on Blackwell: scheduler-recv-interval. TensorRT-LLM:
    batch_wait_timeout_iters 20 for Llama-70B at 1k/1k below TP 8.
    """
    none = Admission(0, False)
    pool = point.colocated
    if point.own_sweep or pool is None:
        return none
    if point.engine == "sglang" and catalog.accelerators[point.accelerator].family == "blackwell":
        return Admission(launch(point).poll_steps, True)
    if point.engine == "trtllm" and not catalog.models[point.model].experts:
        short = point.input_tokens == point.output_tokens == 1024 and pool.tp < NODE_GPUS
        return Admission(20 if short else 0, False)
    return none


def named_outlier(point: ServingPoint) -> str:
    """Why a run is an outlier of its own file, or nothing. Told by configuration; such rows are scored,
    not fitted.
    """
    own_sweep = point.own_sweep
    if WHOLE_FLEET in point.notes:
        return WHOLE_FLEET
    if CLIENT_LIMIT in point.notes:
        return CLIENT_LIMIT
    if point.recipe is not None and point.engine == "sglang" and point.input_tokens == 8192:
        return "TPOT of 32 ms from 4 requests a rank to 40: steps take the same whatever the batch"
    if point.engine == "sglang" and drafting(point) == "untold":
        return "run twice under one name, with drafted tokens and without"
    if own_sweep and point.model == "qwen3_235b_a22b":
        return "TPOT of 35 to 58 ms whatever the batch and lengths: steps bound by the host, no CUDA graphs"
    if own_sweep and point.accelerator == "gb200" and point.model == "qwen3_32b":
        return "TPOT five times that of one request as soon as two are in flight, falling again later"
    if own_sweep and point.engine == "trtllm" and point.model.startswith("deepseek"):
        return "TPOT of 85 to 92 ms whatever the batch, three times that of the same configuration elsewhere"
    return ""
