"""Every design that was tried, with its score or the limit that stopped it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pdexplorer.infeasible import Infeasible


@dataclass(frozen=True)
class Candidate:
    """score: requests per second within every limit, per USD an hour or per GPU (score_unit), at unrounded
    scale.

    instances, gpus, cost: of the integer fleet for the comparison's basis; None where limit says why not.
    design: what tells it from the others.
    """

    fleet: Literal["colocated", "disaggregated"]
    design: dict[str, Any]
    score: float | None = None
    score_unit: str = ""
    instances: int | dict[str, int] | None = None
    gpus: int | None = None
    cost_usd_per_hour: float | None = None
    goodput_per_s: float | None = None
    chosen: bool = False
    limit: Infeasible | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "fleet": self.fleet,
            "design": dict(self.design),
            "score": self.score,
            "score_unit": self.score_unit,
            "instances": self.instances,
            "gpus": self.gpus,
            "cost_usd_per_hour": self.cost_usd_per_hour,
            "goodput_per_s": self.goodput_per_s,
            "chosen": self.chosen,
            "limit": None if self.limit is None else {"limit": self.limit.limit, "text": self.limit.text},
        }


def missing_figure(limits: Iterable[Infeasible]) -> Infeasible | None:
    """Of those that figures nobody published stopped, the one that names most of them: what a person can set,
    and the design might do.
    """
    found = [limit for limit in limits if limit.limit == "missing_figure"]
    return max(found, key=lambda limit: limit.text.count("overrides."), default=None)


def to_act_on(limits: Iterable[Infeasible]) -> Infeasible | None:
    """Of the limits that stopped designs, the one to name."""
    found = list(limits)
    return missing_figure(found) or next(iter(found), None)
