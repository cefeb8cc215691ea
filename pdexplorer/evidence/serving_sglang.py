"""How SGLang was launched in the public benchmarks, by model, chip, format and parallelism.

From launch scripts of github SemiAnalysisAI/InferenceX benchmarks/single_node (dsr1_*.sh, qwen3.5_*.sh), the
search spaces of its nvidia-master.yaml and the entries of its perf-changelog.yaml.
"""

from dataclasses import dataclass
from typing import Literal

from pdexplorer.evidence.serving_points import ServingPoint

OFTEN, SELDOM = 10, 30
"""scheduler-recv-interval of the scripts of Blackwell below 16 in flight, and from there on."""


@dataclass(frozen=True, slots=True)
class Launch:
    """chunk_tokens: chunked-prefill-size; running: max-running-requests; poll_steps: decode steps between two
    looks at the queue, 0 for every step; drafts: speculative-num-steps.
    """

    chunk_tokens: int
    running: int
    poll_steps: int
    drafts: int = 0


Drafting = Literal["no", "yes", "untold"]


def drafting(point: ServingPoint) -> Drafting:
    """Whether a colocated run drafted tokens (EAGLE with the model's own layer): the file does not say.

    Told by what only one of two launches was run with: Qwen3.5 in fp8 on four B200 without expert
    parallelism, DeepSeek in fp8 on eight from 128 in flight on, and from 8 on with long prompts. The latest
    dump holds none. Below, DeepSeek-R1 was run both ways under one name.
    """
    pool, source = point.colocated, point.raw["silicon_data_source"]
    other = point.accelerator != "b200_sxm" or point.weight_format != "fp8_block" or "db-dump" in source
    if other or pool is None or point.own_sweep or pool.ep > 1:
        return "no"
    if point.model.startswith("qwen3_5"):
        return "yes" if pool.tp == 4 else "no"
    if not point.model.startswith("deepseek") or pool.tp != 8 or "measured=2026" not in source:
        return "no"
    long = point.input_tokens > 4096
    return "yes" if point.concurrency >= (8 if long else 128) else "untold"


def launch(point: ServingPoint) -> Launch:
    """The settings of one run; those of the authors' own sweeps are assumed."""
    if point.own_sweep:
        return Launch(32768 if point.weight_format == "fp8_block" else 16384, point.concurrency, 0)
    short = point.input_tokens == point.output_tokens
    running = 512 if short else 256
    blocked = point.weight_format == "fp8_block"
    seldom = SELDOM if point.concurrency >= 16 else OFTEN
    if point.model.startswith("qwen3_5"):
        # The scripts' 128 would have queued half of the heaviest load, whose TTFT shows no such wait.
        most = max(point.concurrency, 128)
        if point.accelerator == "h200_sxm":
            return Launch(16384, most, 0)
        if point.weight_format == "nvfp4":
            return Launch(32768, most, SELDOM)
        return Launch(32768, most, seldom, 3 if drafting(point) == "yes" else 0)
    if point.accelerator == "h200_sxm":
        return Launch(32768, running, 0)
    if drafting(point) == "yes":
        return Launch(16384, 512, seldom, 2)
    if blocked and point.accelerator == "b200_sxm" and point.colocated and point.colocated.tp == 4:
        return Launch(8192, 32, OFTEN)
    return Launch(32768 if blocked or point.weight_format == "bf16" else 16384, running, seldom)
