"""What the scenario says about fleets: pools, network, engine, routing."""

from typing import Literal

from pydantic import Field

from pdexplorer.catalog.architecture import Architecture
from pdexplorer.scenario.fields import AutoFloat, AutoInt, AutoStr, AutoWeightFormat, Block, WeightFormat


class Model(Block):
    name: str = Field("llama_3_1_70b", description="A model of the catalogue (pdexplorer catalog models).")
    architecture: Architecture | None = Field(
        None, description="A model of your own instead of the named one, from its config.json."
    )
    weight_format: WeightFormat = Field("fp8", description="How weights are stored.")
    kv_format: Literal["bf16", "fp8"] = Field(
        "bf16", description="How the KV cache is stored; the same on both pools."
    )


class Pool(Block):
    """What both kinds of pool say; `auto` is searched or sized."""

    tp: AutoInt = Field(
        None, ge=1, le=64, description="Tensor parallelism of attention; auto tries what fits."
    )
    pp: AutoInt = Field(1, ge=1, le=64, description="Pipeline parallelism; auto tries 1, 2 and 4.")
    ep: int = Field(
        1, ge=1, le=512, description="Expert parallelism; experts spread over the GPUs of an instance."
    )
    attention_dp: int = Field(
        1, ge=1, le=512, description="Data parallelism of attention within an instance."
    )
    weight_format: AutoWeightFormat = Field(None, description="Weights of this pool; auto takes the model's.")
    instances: AutoInt = Field(
        None, ge=1, le=100_000, description="Number of instances; auto sizes for the load."
    )
    max_batch: int = Field(256, ge=1, le=65_536, description="Most sequences an instance decodes together.")
    clock_ratio: float = Field(
        1.0,
        ge=0.1,
        le=1,
        description="Share of its compute rate an accelerator keeps under a power cap; memory keeps its own.",
    )


class ColocatedPool(Pool):
    accelerator: AutoStr = Field(
        None, description="Accelerator of the colocated fleet; auto takes the best among those on offer."
    )
    chunk_tokens: AutoInt = Field(
        None,
        ge=16,
        le=1_000_000,
        description="Token budget of a mixed step (chunked prefill); auto tries several.",
    )
    engine: AutoStr = Field(
        None,
        description="Engine of the colocated fleet, where it is not the split's; auto takes engine.profile.",
    )


class RolePool(Pool):
    accelerator: str = Field("h100_sxm", description="Accelerator of this pool.")


class Network(Block):
    link: str = Field("roce_400", description="Kind of link between the pools (pdexplorer catalog networks).")
    nic_gbit_per_s: AutoFloat = Field(
        None, gt=0, le=100_000, description="Line rate of one NIC; auto takes the link's."
    )
    nics_per_instance: AutoInt = Field(
        None,
        ge=1,
        le=256,
        description="NICs one instance drives; auto is one per GPU, as datacentre nodes are built.",
    )
    effective_fraction: AutoFloat = Field(
        None, gt=0, le=1, description="Share of line rate a KV transfer reaches; auto takes the catalogue's."
    )
    latency_ms: AutoFloat = Field(
        None, ge=0, le=60_000, description="Fixed time per transfer (handshake and first byte)."
    )
    oversubscription_ratio: float = Field(
        1.0,
        ge=1,
        le=64,
        description="Sum of instance egress over what the fabric carries at once; 1 is non-blocking.",
    )
    layerwise_overlap: bool = Field(
        True,
        description="Stream each layer's KV while later layers still prefill; hides what fits under them.",
    )
    transfers_at_once: AutoInt = Field(
        None,
        ge=1,
        le=100_000,
        description="Throttle: as many KV transfers enter one decode instance, the others wait; auto lets "
        "all share it. Replays follow it, the closed form does not.",
    )
    first_token_from: Literal["decode", "prefill"] = Field(
        "decode",
        description="decode: TTFT contains the transfer (vLLM, SGLang, Dynamo). "
        "prefill: the second token waits.",
    )


class Engine(Block):
    profile: str = Field(
        "vllm", description="Engine whose overheads are used: vllm, sglang, trtllm, local, vllm_2023."
    )
    chunking: Literal["chunked", "prefill_first", "unchunked"] = Field(
        "chunked",
        description="Colocated scheduling: decodes first with chunked prefill; whole prompts first; "
        "or unchunked, the 2023 engine most papers compare with.",
    )
    kv_block_tokens: int = Field(16, ge=1, le=4096, description="Tokens of one KV block.")
    memory_fraction: float = Field(
        0.9, gt=0.1, le=1, description="Share of accelerator memory the engine may use."
    )
    prefill_batch_tokens: int = Field(
        8192,
        ge=16,
        le=1_000_000,
        description="Most prompt tokens a prefill-pool instance computes in one step; a longer prompt runs "
        "whole, in a step of its own.",
    )


class Routing(Block):
    policy: Literal["round_robin", "least_loaded", "prefix_aware"] = Field(
        "least_loaded",
        description="How requests are spread over instances; prefix_aware goes where most of the prompt is "
        "cached, unless that one is overloaded.",
    )
    local_threshold_tokens: int = Field(
        0,
        ge=0,
        le=2_000_000,
        description="Hybrid: prompts with fewer uncached tokens prefill on the decode side. "
        "0 is off; replays follow it, the closed form does not.",
    )
    fallback_transfer_ms: AutoFloat = Field(
        None,
        ge=0,
        le=3_600_000,
        description="Prompts whose KV transfer would take longer at the link's present rate prefill on the "
        "decode side; auto never. Replays follow it, the closed form does not.",
    )
    overhead_ms: float = Field(
        1.0, ge=0, le=60_000, description="Router time added to every request, per hop."
    )
