"""What sets split fleets apart from colocated ones: three numbers and when a first token is seen.

The decode side sends the first token, so a wait for a slot or for KV there is part of TTFT. SGLang's recipes
stream tokens in chunks of 30 to 50, and what a first token waits for its chunk is taken off the others.
"""

from dataclasses import dataclass, replace

from pdexplorer.physics.serving import ServingRatios


@dataclass(frozen=True, slots=True)
class SplitNumbers:
    """Fitted to split runs. prefill_compute, decode_compute: factors on the colocated ratio of arithmetic,
    which is of chunks among decodes; chunk_steps: decode steps SGLang's first token is held back.
    """

    prefill_compute: float = 1.0
    decode_compute: float = 1.0
    chunk_steps: float = 0.0

    @property
    def count(self) -> int:
        """How many of them were fitted."""
        return 3 if self != SplitNumbers() else 0


def prefill_ratios(ratios: ServingRatios, split: SplitNumbers) -> ServingRatios:
    """The ratios of a prefill instance."""
    kernels = ratios.kernels
    return replace(
        ratios,
        kernels=replace(
            kernels,
            compute=kernels.compute * split.prefill_compute,
            attention_compute=kernels.attention_compute * split.prefill_compute,
        ),
    )


def decode_ratios(ratios: ServingRatios, split: SplitNumbers) -> ServingRatios:
    """The ratios of a decode instance."""
    kernels = ratios.kernels
    return replace(ratios, kernels=replace(kernels, compute=kernels.compute * split.decode_compute))


def held_back(
    ttft_ms: float, tpot_ms: float, engine: str, output_tokens: float, split: SplitNumbers
) -> tuple[float, float]:
    """TTFT and TPOT where the first token waits for its chunk; the last token comes when it did."""
    steps = min(split.chunk_steps, 0.5 * output_tokens) if engine == "sglang" else 0.0
    waited = steps * tpot_ms
    return ttft_ms + waited, tpot_ms - waited / max(output_tokens - 1.0, 1.0)
