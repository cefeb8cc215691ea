"""Step times with exact answers, and short ways to make requests."""

from dataclasses import dataclass

import numpy as np

from pdexplorer.workload.requests import Requests


@dataclass(frozen=True)
class FakeTimer:
    """Decode affine in total context; prefill linear in tokens and pairs; a mixed step adds both."""

    step_s: float = 0.01
    sequence_s: float = 1e-4
    context_s: float = 1e-7
    window_context_s: float = 0.0
    token_s: float = 1e-4
    pair_s: float = 0.0
    window_tokens: int | None = None

    def decode_coefficients(self, batch: int) -> tuple[float, float, float]:
        return self.step_s + self.sequence_s * batch, self.context_s, self.window_context_s

    def mixed_s(
        self,
        prefill_tokens: int,
        pairs_full: float,
        pairs_window: float,
        kv_read_full: float,
        kv_read_window: float,
        prefill_sequences: int,
        batch: int,
        context_sum: float,
        window_sum: float,
    ) -> float:
        return (
            self.step_s
            + self.token_s * prefill_tokens
            + self.pair_s * (pairs_full + pairs_window)
            + self.sequence_s * batch
            + self.context_s * context_sum
            + self.window_context_s * window_sum
        )


SERVER = FakeTimer(step_s=0.0, sequence_s=0.0, context_s=0.0, token_s=1e-3)
"""A plain server: a prompt of n tokens takes n ms, nothing else takes time."""


def requests_of(
    arrival_s: list[float] | np.ndarray,
    input_tokens: int | list[int] | np.ndarray = 100,
    output_tokens: int | list[int] | np.ndarray = 10,
    cached_tokens: int | list[int] | np.ndarray = 0,
) -> Requests:
    """Requests from arrivals and lengths, a number meaning the same for all."""
    arrival = np.asarray(arrival_s, dtype=float)
    columns = [
        np.broadcast_to(np.asarray(each, dtype=np.int64), arrival.shape).copy()
        for each in (input_tokens, cached_tokens, output_tokens)
    ]
    return Requests(arrival, *columns)


def poisson(rate_per_s: float, requests: int, seed: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).exponential(1.0 / rate_per_s, requests))
