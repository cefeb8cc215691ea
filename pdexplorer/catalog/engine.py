"""A serving engine: what a step and a request cost besides the accelerator's work."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pdexplorer.catalog.figure import Figure


@dataclass(frozen=True)
class EngineProfile:
    """Host-side costs of one engine, in seconds.

    step_overhead_s is paid once per step, layer_overhead_s once per layer and step (kernel launches without
    CUDA graphs), request_overhead_s once per request (HTTP, tokenising, admission). A step of prompts with
    more than graph_tokens is not in a CUDA graph: it takes the host at least host_layer_s a layer to launch.
    figures has them in the catalogue's units with their sources.
    """

    id: str
    name: str
    step_overhead_s: float
    request_overhead_s: float
    layer_overhead_s: float
    chunked: bool
    cuda_graphs: bool
    notes: str = ""
    graph_tokens: float = math.inf
    host_layer_s: float = 0.0
    figures: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        """The name without what stands in brackets."""
        return self.name.partition(" (")[0]
