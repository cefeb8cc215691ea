"""One request in full: every token and what happened between, for a chart."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.simulator.sequence import Sequence


@dataclass(frozen=True, eq=False)
class Timeline:
    """token_s: when each token came. spans: (`queued` | `prefill` | `transfer` | `decode`, start_s, end_s) in
    order of their starts; one prefill span a chunk, and another decode span after each preemption or retry.
    """

    token_s: NDArray[np.float64]
    spans: tuple[tuple[str, float, float], ...]

    @property
    def itl_s(self) -> NDArray[np.float64]:
        """Every gap between its tokens."""
        return np.diff(self.token_s)


def timeline_of(sequence: Sequence) -> Timeline:
    """Of a sequence that has left and was traced."""
    spans = list(sequence.spans)
    if sequence.prefill_start_s > sequence.arrival_s:
        spans.append(("queued", sequence.arrival_s, sequence.prefill_start_s))
    if sequence.transfer_end_s == sequence.transfer_end_s:
        spans.append(("transfer", sequence.transfer_start_s, sequence.transfer_end_s))
    spans.sort(key=lambda span: (span[1], span[2]))
    return Timeline(np.array(sequence.token_s, dtype=float), tuple(spans))
