"""Instances of the catalogue's models on its accelerators, for every physics test."""

from collections.abc import Callable

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.physics.instance import Instance, Parallelism, build_instance

Make = Callable[..., Instance]


@pytest.fixture(scope="session")
def make() -> Make:
    """make("h100_sxm", "llama_3_1_70b", tp=4) -> Instance."""

    def build(
        accelerator: str,
        model: str,
        tp: int = 1,
        pp: int = 1,
        ep: int = 1,
        attention_dp: int = 1,
        weights: str = "bf16",
        kv: str = "bf16",
        engine: str = "vllm",
    ) -> Instance:
        catalog = load_catalog()
        instance = build_instance(
            catalog.accelerators[accelerator],
            catalog.models[model],
            Parallelism(tp, pp, ep, attention_dp),
            weights,
            kv,
            catalog.engines[engine],
        )
        assert not isinstance(instance, Infeasible), instance
        return instance

    return build
