"""How long a step of the reference engine takes: work counted token by token, then asked of the timer."""


def step_s(timer, chunks, decoders):
    """(seconds, the share of them that prefill takes). chunks: (sequence, new tokens) pairs."""
    window = timer.window_tokens
    cap = float("inf") if window is None else window
    contexts = [each.context for each in decoders]
    full, capped = float(sum(contexts)), float(sum(min(each, cap) for each in contexts))
    if not chunks:
        a, b_full, b_window = timer.decode_coefficients(len(decoders))
        return a + b_full * full + b_window * capped, 0.0
    work = (
        sum(new for _, new in chunks),
        float(sum(sum(each.past + i for i in range(1, new + 1)) for each, new in chunks)),
        float(sum(sum(min(each.past + i, cap) for i in range(1, new + 1)) for each, new in chunks)),
        float(sum(each.past for each, _ in chunks)),
        float(sum(min(each.past, cap) for each, _ in chunks)),
        len(chunks),
    )
    alone = timer.mixed_s(*work, 0, 0.0, 0.0)
    if not decoders:
        return alone, 1.0
    a, b_full, b_window = timer.decode_coefficients(len(decoders))
    share = alone / (alone + a + b_full * full + b_window * capped)
    return timer.mixed_s(*work, len(decoders), full, capped), share
