"""What a model is made of: the counts its time and memory follow from."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Architecture(BaseModel):
    """Layer counts and widths of one model, as its config.json gives them. All plain counts unless named.

    Layers split by what they keep: full attention, windowed (sliding or chunked) and linear (constant state).
    Their numbers add up to `layers_with_attention`; hybrids may have more `layers` (Mamba, MLP only).
    Full layers may keep one entry for several tokens (DeepSeek-V4: compressed sparse and heavily compressed).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = "custom"
    attention: Literal["gqa", "mla"] = "gqa"
    layers: int = Field(gt=0, le=10_000)
    hidden_size: int = Field(gt=0, le=1_000_000)
    heads: int = Field(gt=0, le=10_000)
    kv_heads: int = Field(gt=0, le=10_000)
    head_dim: int = Field(gt=0, le=10_000)
    intermediate_size: int = Field(ge=0, le=10_000_000)
    mlp_matrices: Literal[2, 3] = 3
    vocab_size: int = Field(gt=0, le=10_000_000)
    tie_embeddings: bool = False
    native_weight_format: str = "bf16"
    only_experts_in_4_bits: bool = Field(
        False,
        description="Published checkpoints in int4 or nvfp4 hold only routed experts so, the rest in bf16.",
    )
    max_context_tokens: int | None = Field(None, gt=0)

    full_layers: int = Field(ge=0, le=10_000)
    window_layers: int = Field(0, ge=0, le=10_000)
    window_tokens: int | None = Field(None, gt=0)
    norm_across_heads: bool = Field(
        False,
        description="Queries and keys are normalised over all heads: an all-reduce of its own under TP.",
    )
    linear_layers: int = Field(0, ge=0, le=10_000)
    linear_state_bytes: int = Field(
        0, ge=0, description="Constant state of one sequence over all linear layers."
    )
    linear_layer_params: int = Field(
        0, ge=0, description="Matmul weights of one linear or Mamba layer, without MLP."
    )
    output_gate: bool = Field(
        False, description="Attention output is gated: the query projection is twice as wide."
    )
    dense_mlp_layers: int | None = Field(
        None, ge=0, le=10_000, description="Layers with a dense MLP; None is all layers that are not MoE."
    )

    experts: int = Field(0, ge=0, le=100_000)
    experts_per_token: int = Field(0, ge=0, le=100_000)
    shared_experts: int = Field(0, ge=0, le=1_000)
    expert_intermediate_size: int = Field(0, ge=0, le=1_000_000)
    shared_intermediate_size: int = Field(0, ge=0, le=1_000_000, description="Width of one shared expert.")
    moe_layers: int = Field(0, ge=0, le=10_000)
    expert_hidden_size: int = Field(
        0, ge=0, le=1_000_000, description="Width routed experts read and write; 0 is hidden_size."
    )

    mla_kv_rank: int = Field(0, ge=0, le=100_000)
    mla_q_rank: int = Field(0, ge=0, le=100_000)
    mla_nope_dim: int = Field(0, ge=0, le=100_000)
    mla_rope_dim: int = Field(0, ge=0, le=100_000)
    mla_v_dim: int = Field(
        0, ge=0, le=100_000, description="Width of a value; 0: keys and values are the latent as it is kept."
    )
    output_rank: int = Field(
        0, ge=0, le=100_000, description="Low rank of each group's output projection; 0 is one full matrix."
    )
    output_groups: int = Field(1, ge=1, le=10_000)

    index_heads: int = Field(0, ge=0, le=10_000, description="Sparse attention: heads of the indexer.")
    index_dim: int = Field(0, ge=0, le=10_000)
    index_layers: int | None = Field(
        None, ge=0, le=10_000, description="Layers with an indexer of their own; None is all with attention."
    )
    index_top_k_tokens: int = Field(
        0, ge=0, description="Sparse attention: tokens a query reads at most; 0 is all."
    )

    compress_ratio: int = Field(
        1,
        ge=1,
        le=10_000,
        description="Tokens of one KV entry in full layers; above 1 all layers keep a window besides.",
    )
    heavy_layers: int = Field(
        0, ge=0, le=10_000, description="Full layers of heavy_compress_ratio: no indexer, all entries read."
    )
    heavy_compress_ratio: int = Field(1, ge=1, le=100_000)
    residual_streams: int = Field(
        1, ge=1, le=64, description="Residual streams side by side (hyper-connections)."
    )

    published_params: float | None = Field(None, gt=0, description="Total parameters its owner states.")

    @property
    def compressed(self) -> bool:
        """Whether one KV entry stands for several tokens, beside a window of single ones in every layer."""
        return self.compress_ratio > 1 or self.heavy_compress_ratio > 1

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.experts and not (0 < self.experts_per_token <= self.experts):
            raise ValueError(
                f"experts_per_token = {self.experts_per_token} must lie between 1 and "
                f"experts = {self.experts}"
            )
        if self.window_layers and self.window_tokens is None:
            raise ValueError(f"window_layers = {self.window_layers} needs window_tokens")
        if self.attention == "mla" and not (self.mla_kv_rank and (self.mla_v_dim or self.output_rank)):
            raise ValueError("attention = mla needs mla_kv_rank, mla_rope_dim, mla_nope_dim and mla_v_dim")
        if self.compressed and self.attention != "mla":
            raise ValueError("compress_ratio and heavy_compress_ratio above 1 need attention = mla")
        if self.heavy_layers > self.full_layers:
            raise ValueError(
                f"heavy_layers = {self.heavy_layers} must be at most full_layers = {self.full_layers}"
            )
        return self
