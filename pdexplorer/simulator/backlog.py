"""How long a new prompt would wait: what has been sent to each instance and is not prefilled yet."""

import math

from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.sequence import Sequence
from pdexplorer.simulator.specs import StepTimes


def alone_s(timer: StepTimes, new_tokens: int, past_tokens: int) -> float:
    """Prefill of that many tokens over those before them, with the instance to itself."""
    pairs, read, window = (
        new_tokens * (past_tokens + 0.5 * (new_tokens + 1)),
        past_tokens,
        timer.window_tokens,
    )
    pairs_window: float = pairs
    if window is not None:
        below = min(max(window - past_tokens, 0), new_tokens)
        pairs_window = below * (past_tokens + 0.5 * (below + 1)) + (new_tokens - below) * window
        read = min(past_tokens, window)
    return timer.mixed_s(new_tokens, pairs, pairs_window, past_tokens, read, 1, 0, 0.0, 0.0)


class Backlog:
    """Seconds and tokens of prompts sent to each instance of a pool and not through."""

    def __init__(self, timer: StepTimes, instances: int) -> None:
        self.timer = timer
        self.work_s = [0.0] * instances
        self.tokens = [0] * instances
        self.sent: dict[int, tuple[int, float, int]] = {}

    def own_s(self, sequence: Sequence) -> float:
        """Prefill of this prompt by itself."""
        cached = sequence.cached_tokens
        return alone_s(self.timer, sequence.input_tokens - cached, cached)

    def add(self, instance: int, sequence: Sequence, work_s: float) -> None:
        """A prompt was sent there, with its own_s."""
        new = sequence.input_tokens - sequence.cached_tokens
        self.sent[sequence.index] = (instance, work_s, new)
        self.work_s[instance] += work_s
        self.tokens[instance] += new

    def done(self, sequence: Sequence) -> None:
        """It is prefilled, or lost its instance."""
        entry = self.sent.pop(sequence.index, None)
        if entry is not None:
            instance, work_s, new = entry
            self.work_s[instance] -= work_s
            self.tokens[instance] -= new

    def wait_s(self, instance: int) -> float:
        """Prefill work before a prompt that comes now."""
        return self.work_s[instance]

    def with_decodes_s(self, instance: int, engine: Engine, budget_tokens: int, new_tokens: int) -> float:
        """The wait and the decode work that runs along with it and this prompt, on an engine that does
        both.
        """
        batch = engine.decodes.size
        if not batch:
            return self.work_s[instance]
        a, full, windowed = self.timer.decode_coefficients(batch)
        context = engine.kv_blocks_held(engine.env.now) * engine.kv_block_tokens
        window = self.timer.window_tokens
        capped = context if window is None else min(context, batch * window)
        steps = math.ceil((self.tokens[instance] + new_tokens) / max(1, budget_tokens - batch))
        return self.work_s[instance] + steps * (a + full * context + windowed * capped)
