"""What the prefill chunks of one step compute and read."""

from collections.abc import Sequence as Many

from pdexplorer.simulator.sequence import Sequence


def prefill_work(
    chunks: Many[tuple[Sequence, int]], window: int | None
) -> tuple[int, float, float, float, float, int]:
    """(new tokens, pairs, pairs within the window, past read, past read within the window, sequences).

    Pairs of one sequence: Σ over its new tokens i of past + i, each capped by the window where there is one.
    """
    if window is None and len(chunks) == 1:
        sequence, new = chunks[0]
        past = sequence.past_tokens
        pairs = new * (past + 0.5 * (new + 1))
        return new, pairs, pairs, past, past, 1
    new_tokens, pairs, read = 0, 0.0, 0.0
    for sequence, new in chunks:
        past = sequence.past_tokens
        new_tokens += new
        pairs += new * (past + 0.5 * (new + 1))
        read += past
    if window is None:
        return new_tokens, pairs, pairs, read, read, len(chunks)
    pairs_window, read_window = 0.0, 0.0
    for sequence, new in chunks:
        past = sequence.past_tokens
        below = min(max(window - past, 0), new)
        pairs_window += below * (past + 0.5 * (below + 1)) + (new - below) * window
        read_window += min(past, window)
    return new_tokens, pairs, pairs_window, read, read_window, len(chunks)
