"""A mix that shifts during the day: one kind of traffic after the other."""

from collections.abc import Sequence

import numpy as np

from pdexplorer.scenario.workload_block import Workload
from pdexplorer.workload.generate import generate_requests
from pdexplorer.workload.requests import Requests, selected


def shifting_requests(phases: Sequence[tuple[Workload, float]], seed: int) -> Requests:
    """Phases of (traffic, seconds) one after the other; each draws from streams of its own.

    Raises ValueError where a phase has no arrival times or lasts no time.
    """
    parts: list[Requests] = []
    start_s = 0.0
    for number, (workload, length_s) in enumerate(phases):
        if length_s <= 0.0 or workload.arrivals not in ("poisson", "gamma"):
            raise ValueError(
                f"phase {number}: {length_s:g} s of workload.arrivals = {workload.arrivals}; "
                "allowed: poisson or gamma, for more than 0 s"
            )
        mean = workload.rate_per_s * length_s
        drawn = int(mean + 10.0 * mean**0.5 / min(1.0, workload.burstiness) + 20)
        given = generate_requests(workload, drawn, seed * 1009 + number)
        inside = np.flatnonzero(given.arrival_s < length_s)
        parts.append(selected(given, inside, -start_s))
        start_s += length_s
    arrival_s, input_tokens, cached_tokens, output_tokens = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("arrival_s", "input_tokens", "cached_tokens", "output_tokens")
    )
    return Requests(arrival_s, input_tokens, cached_tokens, output_tokens)
