"""Split fleets of which a row gives only the number of GPUs: their pools, from the recipes of their launch.

The first public dumps export such a fleet as one instance whose tp is all of its GPUs. The launch
configuration of those days (.github/configs/nvidia-master.yaml of github InferenceMAX/InferenceMAX, autumn of
2025, SemiAnalysisAI/InferenceX since) has one recipe for that many GPUs, lengths and concurrency.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Side:
    """One pool of a recipe: instances of `gpus` GPUs each, tensor parallel or with attention DP, experts
    spread over all of them. batch: requests of a rank at once, 0 where the recipe leaves it open.
    """

    instances: int
    gpus: int
    attention_dp: bool
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Recipe:
    """A split fleet and the loads it was run under. draft_tokens: of multi-token prediction."""

    prefill: Side
    decode: Side
    concurrencies: tuple[int, ...]
    draft_tokens: int = 0

    @property
    def gpus(self) -> int:
        """GPUs of both pools."""
        return self.prefill.instances * self.prefill.gpus + self.decode.instances * self.decode.gpus


def _trtllm(
    prefills: int, decode: Side, concurrencies: tuple[int, ...], draft_tokens: int, batch: int
) -> Recipe:
    """Prefill instances of four GPUs each, with attention DP where the decode side has it."""
    return Recipe(Side(prefills, 4, decode.attention_dp, batch), decode, concurrencies, draft_tokens)


def _wide(gpus: int, batch: int) -> Side:
    return Side(1, gpus, True, batch)


def _narrow(instances: int, batch: int) -> Side:
    return Side(instances, 8, False, batch)


# PREFILL_MAX_BATCH_SIZE is 4 at 1k, 1 at 8k; loads of several decode instances are those listed, times their
# number.
_RECIPES: Mapping[tuple[str, str, str, int, int], tuple[Recipe, ...]] = MappingProxyType(
    {
        ("trtllm", "gb200", "nvfp4", 1024, 1024): (
            _trtllm(1, _narrow(4, 128), (4, 8, 16, 32, 64, 128, 256, 564), 0, 4),
            _trtllm(1, _wide(32, 32), (1075,), 0, 4),
            _trtllm(1, _wide(16, 64), (1075,), 0, 4),
            _trtllm(2, _wide(16, 256), (2048, 4300), 0, 4),
            _trtllm(1, _wide(8, 512), (4300,), 0, 4),
            _trtllm(1, _narrow(4, 32), (144,), 3, 4),
            _trtllm(1, _wide(16, 64), (512,), 3, 4),
            _trtllm(2, _wide(16, 128), (2150,), 1, 4),
            _trtllm(1, _wide(32, 16), (512,), 3, 4),
            _trtllm(1, _wide(8, 256), (2252,), 1, 4),
        ),
        ("trtllm", "gb200", "nvfp4", 8192, 1024): (
            _trtllm(1, _narrow(3, 32), (3, 6, 12, 24, 48, 102), 0, 1),
            _trtllm(4, _wide(32, 16), (256, 538), 0, 1),
            _trtllm(6, _wide(16, 64), (1075,), 0, 1),
            _trtllm(8, _wide(16, 128), (2150,), 0, 1),
            _trtllm(5, _wide(8, 256), (2150,), 0, 1),
            _trtllm(1, _narrow(3, 16), (54,), 3, 1),
            _trtllm(5, _wide(32, 8), (128, 269), 3, 1),
            _trtllm(8, _wide(32, 16), (538,), 3, 1),
            _trtllm(8, _wide(16, 64), (1075,), 2, 1),
            _trtllm(6, _wide(8, 256), (2150,), 1, 1),
        ),
    }
)
"""Where a fleet ran a load with drafts and without (4 to 64 in flight at 1k, 3 to 24 at 8k), the dump has one
row, which is the plain one: its TPOT is that of the runs of December, which say so."""

_SWEPT: Mapping[tuple[str, str, str, int, int], Recipe] = MappingProxyType(
    {
        ("sglang", "gb200", "fp8_block", 1024, 1024): Recipe(Side(3, 8, True), Side(1, 48, True), ()),
        ("sglang", "gb200", "fp8_block", 8192, 1024): Recipe(Side(5, 8, True), Side(1, 32, True), ()),
    }
)
"""Recipes run under whatever load: the middle of SGLang's curves."""


def fleet_of(key: tuple[str, str, str, int, int], gpus: int, concurrency: int) -> Recipe | None:
    """The fleet of a run, None where no recipe was found. key: engine, accelerator, format of the weights,
    input and output tokens.
    """
    found: Iterator[Recipe] = (
        recipe
        for recipe in _RECIPES.get(key, ())
        if recipe.gpus == gpus and concurrency in recipe.concurrencies
    )
    swept = _SWEPT.get(key)
    return next(found, swept if swept is not None and swept.gpus == gpus else None)
