"""The one object a question is asked with."""

from pydantic import Field

from pdexplorer.scenario.decision_block import Compare, Money, VerdictRule
from pdexplorer.scenario.fields import Block
from pdexplorer.scenario.fleet_block import ColocatedPool, Engine, Model, Network, RolePool, Routing
from pdexplorer.scenario.study_block import ConfidenceRule, Faults, Payback, Reuse
from pdexplorer.scenario.workload_block import Slo, Workload


class Scenario(Block):
    """Model, traffic, limits, two fleets, network, rule, prices and studies. Frozen; safe as a cache key."""

    model: Model = Field(default_factory=Model)
    workload: Workload = Field(default_factory=Workload)
    slo: Slo = Field(default_factory=Slo)
    colocated: ColocatedPool = Field(default_factory=ColocatedPool)
    prefill: RolePool = Field(default_factory=RolePool)
    decode: RolePool = Field(default_factory=RolePool)
    network: Network = Field(default_factory=Network)
    engine: Engine = Field(default_factory=Engine)
    routing: Routing = Field(default_factory=Routing)
    compare: Compare = Field(default_factory=Compare)
    verdict: VerdictRule = Field(default_factory=VerdictRule)
    money: Money = Field(default_factory=Money)
    reuse: Reuse = Field(default_factory=Reuse)
    faults: Faults = Field(default_factory=Faults)
    confidence: ConfidenceRule = Field(default_factory=ConfidenceRule)
    payback: Payback = Field(default_factory=Payback)
    overrides: dict[str, dict[str, float]] = Field(
        default_factory=dict,
        description="Catalogue figures set by hand: overrides.ascend_910b.memory_bandwidth_gb_per_s = 1600.",
    )

    @property
    def colocated_engine(self) -> str:
        """Engine profile of the colocated fleet: its own, or the one the split runs."""
        return self.colocated.engine or self.engine.profile
