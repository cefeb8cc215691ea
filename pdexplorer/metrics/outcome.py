"""What a fleet does with the demand: the figures every answer shows, whether estimated or simulated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pdexplorer.infeasible import Infeasible

PARTS = ("prefill", "decode", "kv_transfer", "scheduling_idle")
"""The four parts of a request's cost, in the order they are shown."""


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Of a latency in seconds."""

    p50: float
    p95: float
    p99: float

    def to_json(self) -> dict[str, float]:
        return {"p50": self.p50, "p95": self.p95, "p99": self.p99}


@dataclass(frozen=True)
class Outcome:
    """One fleet under one demand. Where infeasible is set only fleet size and what explains it are filled.

    instances: a number, or {prefill, decode}. Rates are of the whole fleet. Money is None without prices,
    and money_note then says which price is missing. cost_per_request_usd: the four parts, each measured on
    its own, and total, which is fleet cost ÷ requests. utilisation: shares of time or capacity by name.
    kv_transfer_s: a request's KV on its way, fixed latency and queueing included; kv_exposed_s: what of it
    prefill does not hide, so what the first token (or the second, where prefill emits the first) waits
    for.
    """

    kind: Literal["estimated", "simulated"]
    feasible: bool
    bottleneck: str | None
    infeasible: Infeasible | None = None
    instances: int | Mapping[str, int] | None = None
    gpus: int | None = None
    cost_usd_per_hour: float | None = None
    throughput_per_s: float | None = None
    goodput_per_s: float | None = None
    attainment_fraction: float | None = None
    cost_usd_per_million_tokens: float | None = None
    cost_usd_per_million_output_tokens: float | None = None
    ttft_s: Percentiles | None = None
    tpot_s: Percentiles | None = None
    itl_s: Percentiles | None = None
    e2e_s: Percentiles | None = None
    utilisation: Mapping[str, float] | None = None
    kv_transfer_s: Percentiles | None = None
    kv_exposed_s: Percentiles | None = None
    cost_per_request_usd: Mapping[str, float] | None = None
    time_share: Mapping[str, float] | None = None
    money_note: str = ""
    design: Mapping[str, Any] = field(default_factory=dict)
    explain: Mapping[str, float] = field(default_factory=dict)

    @property
    def goodput_per_gpu_s(self) -> float | None:
        """Requests per second within every limit, over all GPUs of the fleet."""
        return None if self.goodput_per_s is None or not self.gpus else self.goodput_per_s / self.gpus

    def to_json(self) -> dict[str, Any]:
        """Plain types; an infeasible side keeps its keys with nulls."""
        empty = {"p50": None, "p95": None, "p99": None}

        def spread(value: Percentiles | None) -> dict[str, Any]:
            return dict(empty) if value is None else value.to_json()

        parts = self.cost_per_request_usd or {}
        return {
            "kind": self.kind,
            "feasible": self.feasible,
            "bottleneck": self.bottleneck,
            "infeasible": None
            if self.infeasible is None
            else {"limit": self.infeasible.limit, "text": self.infeasible.text},
            "design": dict(self.design),
            "instances": dict(self.instances) if isinstance(self.instances, Mapping) else self.instances,
            "gpus": self.gpus,
            "cost_usd_per_hour": self.cost_usd_per_hour,
            "throughput_per_s": self.throughput_per_s,
            "goodput_per_s": self.goodput_per_s,
            "attainment_fraction": self.attainment_fraction,
            "cost_usd_per_million_tokens": self.cost_usd_per_million_tokens,
            "cost_usd_per_million_output_tokens": self.cost_usd_per_million_output_tokens,
            "ttft_s": spread(self.ttft_s),
            "tpot_s": spread(self.tpot_s),
            "itl_s": spread(self.itl_s),
            "e2e_s": spread(self.e2e_s),
            "utilisation": None if self.utilisation is None else dict(self.utilisation),
            "kv_transfer_s": spread(self.kv_transfer_s),
            "kv_exposed_s": spread(self.kv_exposed_s),
            "cost_per_request_usd": {part: parts.get(part) for part in (*PARTS, "total")},
            "money_note": self.money_note,
        }


def infeasible_outcome(limit: Infeasible, kind: Literal["estimated", "simulated"] = "estimated") -> Outcome:
    """A side that cannot: nulls, and the limit that binds."""
    return Outcome(kind=kind, feasible=False, bottleneck=limit.limit, infeasible=limit)
