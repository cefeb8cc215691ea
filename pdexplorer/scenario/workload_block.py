"""What the scenario says about traffic and its latency limits."""

from typing import Literal, Self

from pydantic import Field, model_validator

from pdexplorer.scenario.fields import AutoFloat, Block, LimitFloat

LengthDistribution = Literal["fixed", "lognormal", "heavy_tail", "trace"]


class Workload(Block):
    mode: Literal["online", "offline"] = Field(
        "online",
        description="online: requests have latency limits. offline: a batch job, only throughput counts.",
    )
    arrivals: Literal["poisson", "gamma", "closed_loop", "trace"] = Field(
        "poisson",
        description="How requests arrive: Poisson; Gamma (burstier or smoother); a closed loop of a fixed "
        "number in flight, as most benchmarks run; or as a trace file says.",
    )
    rate_per_s: float = Field(
        4.0, ge=1e-6, le=1e6, description="Mean requests per second over the whole fleet."
    )
    peak_to_mean_ratio: float = Field(
        1.0, ge=1, le=100, description="Fleets are sized for rate × this ratio; cost is paid at that size."
    )
    burstiness: float = Field(
        1.0,
        gt=0,
        le=100,
        description="Shape of Gamma arrivals, as in vLLM's benchmark: 1 is Poisson, below 1 is burstier.",
    )
    concurrency: int = Field(
        32, ge=1, le=1_000_000, description="Requests in flight over the whole fleet in a closed loop."
    )
    input_tokens: float = Field(4000, ge=1, le=2_000_000, description="Mean prompt length in tokens.")
    input_distribution: LengthDistribution = Field("lognormal", description="How prompt lengths spread.")
    input_p95_tokens: AutoFloat = Field(
        None,
        ge=1,
        le=4_000_000,
        description="95th percentile of prompt length; auto is 2.5 × the mean. Moves with the mean.",
    )
    output_tokens: float = Field(300, ge=1, le=1_000_000, description="Mean generated length in tokens.")
    output_distribution: LengthDistribution = Field("lognormal", description="How generated lengths spread.")
    output_p95_tokens: AutoFloat = Field(
        None,
        ge=1,
        le=4_000_000,
        description="95th percentile of generated length; auto is 2.5 × the mean. Moves with the mean.",
    )
    prefix_hit_fraction: float = Field(
        0.0, ge=0, le=0.999, description="Share of all prompt tokens already in a prefix cache (mean)."
    )
    decode_hit_fraction: float = Field(
        0.0,
        ge=0,
        le=0.999,
        description="Share of all prompt tokens whose KV the decode side holds already, so that it is not "
        "sent; replays of conversations work it out.",
    )
    warm_fraction: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of requests that hit the cache at all; the others are cold. "
        "Real traces are bimodal. At least the prefix hit.",
    )
    trace_file: str = Field(
        "",
        max_length=4096,
        description="Trace to read lengths and arrivals from. Shell only: never from a link.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in ("input", "output"):
            mean = getattr(self, f"{name}_tokens")
            p95 = getattr(self, f"{name}_p95_tokens")
            if p95 is not None and not mean <= p95 <= 4 * mean:
                raise ValueError(
                    f"workload.{name}_p95_tokens = {p95:g} must lie between the mean, {mean:g}, "
                    "and 4 × the mean"
                )
        if self.warm_fraction < self.prefix_hit_fraction:
            raise ValueError(
                f"workload.warm_fraction = {self.warm_fraction:g} must be at least "
                f"workload.prefix_hit_fraction = {self.prefix_hit_fraction:g}: "
                "a request cannot hit more than all of it"
            )
        uses_trace = "trace" in (self.arrivals, self.input_distribution, self.output_distribution)
        if uses_trace and not self.trace_file:
            raise ValueError("workload.trace_file is empty, but arrivals or a length distribution is 'trace'")
        return self


class Slo(Block):
    ttft_s: LimitFloat = Field(
        2.0, gt=0, le=86_400, description="Limit on time to first token; none for no limit."
    )
    tpot_ms: LimitFloat = Field(
        50.0, gt=0, le=1e6, description="Limit on time per output token; none for no limit."
    )
    e2e_s: LimitFloat = Field(
        None, gt=0, le=864_000, description="Limit on the whole request; none for no limit."
    )
    percentile: float = Field(
        95, ge=50, le=99.9, description="Share of requests that must meet every limit, in %."
    )
