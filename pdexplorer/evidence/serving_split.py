"""What sets split fleets apart from colocated ones: how fast they prefill and when a first token is seen.

The decode side sends the first token, so a wait for a slot or for KV there is part of TTFT.
"""

from dataclasses import dataclass, fields, replace

from pdexplorer.evidence.serving_points import ServingPoint
from pdexplorer.physics.serving import ServingRatios

HANDSHAKE_STEPS = 5.0
"""Decode steps before SGLang's decode side shows a first token. Its loop looks once a step: for the request,
for the handshake after which memory is reserved, for KV that has come; a batch made of it and its result each
take one more (github sgl-project/sglang srt/disaggregation/decode.py; five of them assumed)."""

SELDOM_STEPS = 5.0
"""More of them where it looks for requests every ten steps: scheduler-recv-interval of GB200's low-latency
recipes (gb200-fp4/1k1k/low-latency.yaml, gb200-fp8 likewise, of github NVIDIA/srt-slurm)."""


@dataclass(frozen=True, slots=True)
class SplitNumbers:
    """Fitted to split runs: factors on the colocated ratio of arithmetic, which is of chunks among decodes,
    in prefill. gathering: of SGLang where it gathers the tokens of all ranks for its experts; exchanging: of
    the others.
    """

    exchanging: float = 1.0
    gathering: float = 1.0

    @property
    def count(self) -> int:
        """How many of them were fitted."""
        return len(fields(self)) if self != SplitNumbers() else 0

    def of(self, point: ServingPoint) -> float:
        """The factor of one run."""
        return self.gathering if gathers(point) else self.exchanging


def gathers(point: ServingPoint) -> bool:
    """Whether SGLang prefills without exchanging tokens. Its recipes of GB200 in fp8 with attention DP over
    eight GPUs exchange them (moe-a2a-backend deepep in prefill, gb200-fp8/1k1k/max-tpt.yaml of github
    NVIDIA/srt-slurm), its others do not.
    """
    assert point.prefill is not None
    exchanges = point.accelerator == "gb200" and point.weight_format == "fp8_block"
    return point.engine == "sglang" and not (exchanges and point.prefill.attention_dp >= 8)


def prefill_ratios(ratios: ServingRatios, factor: float) -> ServingRatios:
    """The ratios of a prefill instance."""
    kernels = ratios.kernels
    return replace(
        ratios,
        kernels=replace(
            kernels,
            compute=kernels.compute * factor,
            attention_compute=kernels.attention_compute * factor,
        ),
    )


def handshake_ms(point: ServingPoint, tpot_ms: float) -> float:
    """What a first token waits for beside prefill, transfer and a place."""
    if point.engine != "sglang":
        return 0.0
    assert point.prefill is not None
    seldom = point.accelerator == "gb200" and point.prefill.attention_dp == 1
    return (HANDSHAKE_STEPS + seldom * SELDOM_STEPS) * tpot_ms
