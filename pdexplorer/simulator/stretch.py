"""A stretch of decode iterations in closed form: k of them take k·base + k²·ramp seconds.

With step time a + B·Σcontext over b sequences, the first iteration takes base + ramp and each next one
2·ramp = B·b longer.
"""

import math


def stretch_s(steps: int, base_s: float, ramp_s: float) -> float:
    """Seconds of that many iterations."""
    return steps * (base_s + steps * ramp_s)


def steps_until(elapsed_s: float, base_s: float, ramp_s: float) -> int:
    """Iterations up to the first boundary at or after that time, at least 1."""
    if ramp_s > 0.0:
        root = math.sqrt(base_s * base_s + 4.0 * ramp_s * elapsed_s)
        steps = int((root - base_s) / (2.0 * ramp_s)) + 1
    else:
        steps = int(elapsed_s / base_s) + 1
    # The root may be off by one either way. (stretch_s written out: this runs at every arrival.)
    before = steps - 1
    while before and before * (base_s + before * ramp_s) >= elapsed_s:
        before -= 1
    steps = before + 1
    while steps * (base_s + steps * ramp_s) < elapsed_s:
        steps += 1
    return steps
