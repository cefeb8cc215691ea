"""What the scenario says about the comparison, the verdict's thresholds and money."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pdexplorer.scenario.fields import Block, Names

HourlyPrice = Annotated[float, Field(gt=0, le=1e5)]


class Compare(Block):
    basis: Literal["least_cost", "most_goodput", "equal_gpus", "fixed_fleets"] = Field(
        "least_cost",
        description="Least cost for the demand; most goodput for a budget; most goodput for equal GPU "
        "counts; or the two fleets exactly as given.",
    )
    budget_usd_per_hour: float = Field(
        100.0, gt=0, le=1e9, description="Budget where the basis is most goodput."
    )
    gpus: int = Field(8, ge=2, le=1_000_000, description="GPUs of each fleet where the basis is equal GPUs.")
    spare_instances: int = Field(
        0,
        ge=0,
        le=64,
        description="Instances beyond what the load needs in every pool that is sized (N+1 is 1): paid for, "
        "so that one may fail. Where the basis is least cost.",
    )
    accelerators: Names = Field(
        (), description="Accelerators the colocated search may use; empty takes those of the two pools."
    )


class VerdictRule(Block):
    benchmark_ratio: float = Field(1.1, gt=0, le=100, description="Below this gain: stay colocated.")
    pays_ratio: float = Field(
        1.3, gt=0, le=100, description="From this gain on splitting pays, if nothing vetoes."
    )
    clearly_ratio: float = Field(1.5, gt=0, le=100, description="From this gain on it pays clearly.")
    transfer_share_of_ttft: float = Field(
        0.25, gt=0, le=1, description="Veto above this share of TTFT P95 in transfer."
    )
    link_utilisation: float = Field(0.7, gt=0, le=1, description="Veto above this link utilisation.")
    prefill_utilisation: float = Field(
        0.9, gt=0, le=1, description="Veto above this prefill pool utilisation."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.benchmark_ratio <= self.pays_ratio <= self.clearly_ratio:
            raise ValueError(
                f"verdict.pays_ratio = {self.pays_ratio:g} must lie between verdict.benchmark_ratio = "
                f"{self.benchmark_ratio:g} and verdict.clearly_ratio = {self.clearly_ratio:g}"
            )
        return self


class Money(Block):
    usd_per_hour: dict[str, HourlyPrice] = Field(
        default_factory=dict,
        description="Price of one accelerator per hour, by id: replaces the catalogue's, marked assumed.",
    )
    basis: Literal["rent", "purchase"] = Field(
        "rent",
        description="rent: the published rent where there is one, else the formula. purchase: the formula.",
    )
    host_share: float = Field(
        0.4, ge=0, le=10, description="Host, chassis and network per purchase price of the GPUs."
    )
    years: float = Field(4.0, gt=0, le=20, description="Years over which a purchase is written off.")
    availability: float = Field(0.95, gt=0, le=1, description="Share of those hours the machine serves.")
    pue: float = Field(1.3, ge=1, le=3, description="Facility power over IT power.")
    usd_per_kwh: float = Field(0.10, ge=0, le=10, description="Price of electricity.")
    network_usd_per_nic_hour: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Price of the KV network per NIC and hour; 0 where the rent includes it.",
    )
    currency: str = Field(
        "USD", pattern=r"^[A-Z]{3}$", description="Currency shown on the page; results stay in USD."
    )
    currency_per_usd: float = Field(1.0, gt=0, le=1e6, description="Units of that currency per USD.")
