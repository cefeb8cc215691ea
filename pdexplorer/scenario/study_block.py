"""What the scenario says to its studies: conversations and caches, faults, how sure, and what splitting costs
beyond its GPUs.
"""

from pydantic import Field

from pdexplorer.scenario.fields import Block


class Reuse(Block):
    """Conversations and the caches they meet in a replay. A size of 0 leaves a cache out."""

    turns: int = Field(
        4,
        ge=1,
        le=1000,
        description="Turns of a conversation; each answer has the scenario's output length.",
    )
    system_tokens: int = Field(
        512, ge=0, le=1_000_000, description="System prompt that all conversations share."
    )
    think_s: float = Field(
        30.0, ge=0, le=86_400, description="Mean time between an answer and the next question."
    )
    host_gb: float = Field(
        0.0, ge=0, le=1e6, description="Host memory for KV of each instance that prefills; 0 for none."
    )
    host_gb_per_s: float = Field(40.0, gt=0, le=1e5, description="Rate at which KV is read from host memory.")
    host_latency_ms: float = Field(
        0.05, ge=0, le=60_000, description="Time before the first byte from host memory."
    )
    ssd_gb: float = Field(
        0.0, ge=0, le=1e6, description="SSD for KV of each instance that prefills; 0 for none."
    )
    ssd_gb_per_s: float = Field(6.0, gt=0, le=1e5, description="Rate at which KV is read from SSD.")
    ssd_latency_ms: float = Field(0.2, ge=0, le=60_000, description="Time before the first byte from SSD.")
    store_gb: float = Field(
        0.0, ge=0, le=1e9, description="Store of KV that the whole fleet shares (pooled reuse); 0 for none."
    )
    store_gb_per_s: float = Field(20.0, gt=0, le=1e5, description="Rate at which KV is read from that store.")
    store_latency_ms: float = Field(
        1.0, ge=0, le=60_000, description="Time before the first byte from that store."
    )
    write_back: bool = Field(
        True, description="KV of generated tokens returns to the prefill side for the next turn."
    )


class Faults(Block):
    """What the fault study does to a replay; each fault starts when two fifths of it are over."""

    down_fraction: float = Field(
        0.2, gt=0, le=0.6, description="Share of the time an instance is away, or the link impaired."
    )
    router_down_fraction: float = Field(
        0.02, gt=0, le=0.6, description="Share of the time the scheduler is away."
    )
    link_rate_fraction: float = Field(
        0.1, gt=0, le=1, description="Share of its rate that a slow link still has."
    )
    link_jitter_ms: float = Field(
        0.0, ge=0, le=60_000, description="Mean extra delay of a transfer over the slow link (exponential)."
    )
    transfer_failure_fraction: float = Field(
        0.1, gt=0, le=1, description="Share of the transfers that fail while the link fails."
    )
    transfer_retries: int = Field(
        1,
        ge=0,
        le=100,
        description="Times a failed transfer is sent again; then decode recomputes the prompt.",
    )
    retry_after_s: float = Field(
        0.0, ge=0, le=3600, description="Time until a request whose instance died is sent elsewhere."
    )


class ConfidenceRule(Block):
    """How the estimate's own uncertainty is drawn."""

    draws: int = Field(32, ge=0, le=512, description="Draws over the efficiencies' spread; 0 for none.")
    seed: int = Field(0, ge=0, le=2**31, description="Seed of the draws; the same seed gives the same draws.")
    spread_ratio: float = Field(
        1.0, ge=0, le=10, description="Factor on every measured spread: 2 doubts the fits twice as much."
    )
    sure_fraction: float = Field(
        0.8,
        gt=0.5,
        le=1,
        description="Below this share of agreeing draws, an interval on both sides of the line says: "
        "benchmark first.",
    )


class Payback(Block):
    """What two pools cost beyond their GPUs; every default is assumed, to be replaced by one's own."""

    engineering_once_usd: float = Field(
        150_000.0, ge=0, le=1e9, description="One-off engineering beyond a colocated fleet."
    )
    engineering_usd_per_month: float = Field(
        8_000.0, ge=0, le=1e8, description="Running engineering beyond a colocated fleet."
    )
    nic_usd: float = Field(1_500.0, ge=0, le=1e6, description="Price of one NIC that has to be added.")
    nics_present_fraction: float = Field(
        1.0, ge=0, le=1, description="Share of the needed NICs that the servers have already."
    )
    switch_port_usd: float = Field(900.0, ge=0, le=1e6, description="Price of one switch port.")
    switch_present_fraction: float = Field(
        0.0, ge=0, le=1, description="Share of the needed switch ports and optics that are there already."
    )
    optic_usd: float = Field(600.0, ge=0, le=1e6, description="Price of one optical transceiver.")
    optics_per_nic: int = Field(2, ge=0, le=16, description="Transceivers a NIC needs, both ends together.")
    incidents_per_year: float = Field(
        4.0, ge=0, le=10_000, description="Incidents a year that a colocated fleet would not have."
    )
    incident_usd: float = Field(5_000.0, ge=0, le=1e9, description="Cost of one such incident.")
    years: float = Field(5.0, ge=1, le=20, description="Years over which the net result is counted.")
