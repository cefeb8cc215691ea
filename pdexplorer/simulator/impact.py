"""What a fault did: the same requests with and without it, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.records import COMPLETED, REFUSED, SimulationResult

NOTICED_S = 0.1
"""A request counts as hit where its end moved by more than this, or had to start again."""


@dataclass(frozen=True)
class Impact:
    """lost: neither completed nor refused; refused: more than without the fault. extra_*_s: mean and 95th
    percentile over the requests that complete in both, of the difference. goodput_per_s: requests that end in
    time, by arrival while a fault lasted, with it and without. attained_*: their share. blast_fraction: of
    all requests, those restarted or later by more than a tenth of a second; restarted: those with a retry.
    recovered_s: from the last fault's end until the last request hit had arrived, 0 where none did after it.
    """

    lost: int
    refused: int
    restarted: int
    extra_ttft_s: float
    extra_ttft_p95_s: float
    extra_e2e_s: float
    extra_e2e_p95_s: float
    goodput_per_s: float
    goodput_without_per_s: float
    attained_fraction: float
    attained_without_fraction: float
    blast_fraction: float
    recovered_s: float


def impact(
    hit: SimulationResult,
    calm: SimulationResult,
    faults: tuple[Fault, ...],
    ttft_s: float | None = None,
    tpot_s: float | None = None,
) -> Impact:
    """Compare a replay with the same one without its faults. ttft_s, tpot_s: limits a good request meets.

    Raises ValueError where the two did not replay the same requests, or there is no fault.
    """
    if hit.requests != calm.requests:
        raise ValueError(f"impact: {hit.requests} requests against {calm.requests}; allowed: the same ones")
    if not faults:
        raise ValueError("impact: no fault given; allowed: those of the replay")
    ours, theirs = hit.records, calm.records
    both = (ours["status"] == COMPLETED) & (theirs["status"] == COMPLETED)
    extra_ttft = _extra(ours, theirs, "first_token_s")[both]
    extra_end = _extra(ours, theirs, "finish_s")
    noticed = (ours["retries"] > 0) | (extra_end > NOTICED_S)
    start_s = min(fault.start_s for fault in faults)
    end_s = min(max(fault.end_s for fault in faults), float(ours["arrival_s"].max()))
    during = (ours["arrival_s"] >= start_s) & (ours["arrival_s"] <= end_s)
    span_s = max(end_s - start_s, 1e-9)
    good, good_without = (_good(records, ttft_s, tpot_s) & during for records in (ours, theirs))
    after = noticed & (ours["arrival_s"] > end_s)
    return Impact(
        lost=int((~np.isin(ours["status"], (COMPLETED, REFUSED))).sum()),
        refused=int((ours["status"] == REFUSED).sum() - (theirs["status"] == REFUSED).sum()),
        restarted=int((ours["retries"] > 0).sum()),
        extra_ttft_s=_mean(extra_ttft),
        extra_ttft_p95_s=_p95(extra_ttft),
        extra_e2e_s=_mean(extra_end[both]),
        extra_e2e_p95_s=_p95(extra_end[both]),
        goodput_per_s=float(good.sum()) / span_s,
        goodput_without_per_s=float(good_without.sum()) / span_s,
        attained_fraction=float(good.sum()) / max(1, int(during.sum())),
        attained_without_fraction=float(good_without.sum()) / max(1, int(during.sum())),
        blast_fraction=float(noticed.mean()) if len(noticed) else 0.0,
        recovered_s=float(ours["arrival_s"][after].max() - end_s) if after.any() else 0.0,
    )


def _extra(ours: Mapping[str, Any], theirs: Mapping[str, Any], column: str) -> NDArray[np.float64]:
    """How much longer after its arrival; NaN where it never came."""
    return np.asarray(
        (ours[column] - ours["arrival_s"]) - (theirs[column] - theirs["arrival_s"]), dtype=float
    )


def _good(records: Mapping[str, Any], ttft_s: float | None, tpot_s: float | None) -> NDArray[np.bool_]:
    good = np.asarray(records["status"] == COMPLETED)
    if ttft_s is not None:
        good = good & (records["first_token_s"] - records["arrival_s"] <= ttft_s)
    if tpot_s is not None:
        steps = np.maximum(records["output_tokens"] - 1, 1)
        good = good & ((records["finish_s"] - records["first_token_s"]) / steps <= tpot_s)
    return good


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _p95(values: NDArray[np.float64]) -> float:
    return float(np.percentile(values, 95)) if len(values) else 0.0
