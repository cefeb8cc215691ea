"""Conditional disaggregation: which prompts go to the prefill pool and which stay on a decode instance."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OwnThreshold:
    """Prompts with fewer uncached tokens stay local; 0 sends all."""

    local_below_tokens: int

    def remote(self, input_tokens: int, uncached_tokens: int) -> bool:
        """Whether the prompt goes to the prefill pool."""
        return uncached_tokens >= self.local_below_tokens


@dataclass(frozen=True)
class LlmdThreshold:
    """llm-d's nonCachedTokens: remote from that many uncached tokens on. 0 sends none."""

    non_cached_tokens: int

    def remote(self, input_tokens: int, uncached_tokens: int) -> bool:
        """Whether the prompt goes to the prefill pool."""
        return 0 < self.non_cached_tokens <= uncached_tokens


@dataclass(frozen=True)
class DynamoPair:
    """NVIDIA Dynamo's bypass: local below this many net new tokens and below this share of uncached ones.

    Both are strict: a short prompt of which nothing is cached goes to the prefill pool.
    """

    net_new_tokens: int = 2048
    uncached_fraction: float = 0.7

    def remote(self, input_tokens: int, uncached_tokens: int) -> bool:
        """Whether the prompt goes to the prefill pool."""
        short = uncached_tokens < self.net_new_tokens
        return not (short and uncached_tokens < self.uncached_fraction * input_tokens)


SplitRule = OwnThreshold | LlmdThreshold | DynamoPair
