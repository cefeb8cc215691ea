"""The two designs that are compared, with everything resolved: instances, counts, budgets, path."""

from dataclasses import dataclass
from typing import Literal

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.transfer import TransferPath


@dataclass(frozen=True)
class ColocatedFleet:
    """Equal instances that prefill and decode. chunk_tokens: token budget of a mixed step."""

    instance: Instance
    instances: int
    chunk_tokens: int
    chunking: Literal["chunked", "whole", "prefill_first", "unchunked"]
    max_batch: int

    @property
    def gpus(self) -> int:
        """GPUs of the whole fleet."""
        return self.instance.gpus * self.instances


@dataclass(frozen=True)
class DisaggregatedFleet:
    """A prefill pool, a decode pool and the path between. prefill_batch_tokens: most prompt tokens of one
    step.
    """

    prefill: Instance
    prefill_instances: int
    decode: Instance
    decode_instances: int
    path: TransferPath
    prefill_batch_tokens: int
    max_batch: int
    first_token_from: Literal["decode", "prefill"]

    @property
    def gpus(self) -> int:
        """GPUs of both pools."""
        return self.prefill.gpus * self.prefill_instances + self.decode.gpus * self.decode_instances
