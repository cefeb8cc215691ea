"""Multi-turn sessions: each turn's prompt is the whole conversation so far and a new message."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.workload.arrivals import poisson_arrivals
from pdexplorer.workload.lengths import length_sample
from pdexplorer.workload.requests import Requests


@dataclass(frozen=True)
class Sessions:
    """Conversations that start as a Poisson stream. system_tokens are shared by all; a turn comes think_s
    (exponential mean) after the one before, counted from its arrival.
    """

    rate_per_s: float
    turns: int = 4
    system_tokens: int = 512
    message_tokens: float = 200.0
    answer_tokens: float = 300.0
    think_s: float = 30.0


def session_requests(sessions: Sessions, count: int, seed: int, block_tokens: int = 64) -> Requests:
    """`count` conversations as requests by arrival, with the hashes of prompts and of prompts with answers.

    Lengths are lognormal. cached_tokens is 0: what is hit depends on the caches of the fleet.
    """
    starts, gaps, messages, answers = (
        np.random.Generator(np.random.PCG64(stream)) for stream in np.random.SeedSequence(seed).spawn(4)
    )
    shape = (count, sessions.turns)
    total = count * sessions.turns
    said = length_sample("lognormal", sessions.message_tokens, None, total, messages).reshape(shape)
    answered = length_sample("lognormal", sessions.answer_tokens, None, total, answers).reshape(shape)
    thinking_s = gaps.standard_exponential(shape) * sessions.think_s
    thinking_s[:, 0] = poisson_arrivals(sessions.rate_per_s, count, starts)
    arrival_s = thinking_s.cumsum(axis=1).ravel()
    ends = sessions.system_tokens + (said + answered).cumsum(axis=1)
    inputs = ends - answered
    order = np.argsort(arrival_s, kind="stable")
    prompts, contexts = _hashes(inputs, ends, sessions.system_tokens, block_tokens)
    input_tokens: NDArray[np.int64] = inputs.ravel()[order]
    return Requests(
        arrival_s=arrival_s[order],
        input_tokens=input_tokens,
        cached_tokens=np.zeros_like(input_tokens),
        output_tokens=answered.ravel()[order],
        block_hashes=tuple(prompts[row] for row in order),
        block_tokens=block_tokens,
        context_hashes=tuple(contexts[row] for row in order),
    )


def _hashes(
    inputs: NDArray[np.int64], ends: NDArray[np.int64], system_tokens: int, block_tokens: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Of full blocks: those within the shared start are the same everywhere, the others a session's own."""
    shared = system_tokens // block_tokens
    longest = int(ends.max()) // block_tokens + 1
    prompts, contexts = [], []
    for session, (turn_inputs, turn_ends) in enumerate(zip(inputs.tolist(), ends.tolist(), strict=True)):
        first = shared + session * longest
        own = (*range(shared), *range(first, first + longest - shared))
        prompts += [own[: tokens // block_tokens] for tokens in turn_inputs]
        contexts += [own[: tokens // block_tokens] for tokens in turn_ends]
    return prompts, contexts
