"""The name of a field with a dimension ends in its unit; counts, shares by name and words need none."""

import ast
from pathlib import Path

import pytest

from tests.import_rules import modules

FOLDER = Path(__file__).resolve().parents[1] / "pdexplorer"

# words that name a quantity with a dimension: a field containing one must say its unit at the end
_WORDS = "latency time duration bandwidth throughput memory price cost power speed rate capacity goodput"
QUANTITIES = frozenset([*_WORDS.split(), "ttft", "tpot", "itl", "e2e"])
UNITS = (
    *(
        "_s",
        "_ms",
        "_us",
        "_tokens",
        "_bytes",
        "_byte",
        "_gb",
        "_gib",
        "_gbit_per_s",
        "_byte_per_s",
        "_per_s",
    ),
    *("_flop", "_flop_per_s", "_fraction", "_ratio", "_share", "_w", "_kwh", "_usd", "_usd_per_hour"),
    *("_usd_per_million_tokens", "_usd_per_million_output_tokens", "_per_hour", "_per_usd", "_percentile"),
    *("_scale", "_gaps"),  # a factor, a count
)
NUMBERS = ("float", "int", "NDArray", "ndarray", "Array")


def misnamed(source: str, module: str) -> list[str]:
    """Numeric fields of public classes that name a quantity and do not end in a unit."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        for item in node.body:
            if not (isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)):
                continue
            name, annotation = item.target.id, ast.unparse(item.annotation)
            numeric = any(number in annotation for number in NUMBERS)
            quantity = any(word in name.lower().split("_") for word in QUANTITIES)
            share = "_share_of_" in name or name.startswith("attained_") or node.name == "Ratios"
            if numeric and quantity and not share and not name.endswith(UNITS):
                found.append(f"{module}.{node.name}.{name}: {annotation}")
    return found


def test_fields_with_a_dimension_end_in_their_unit() -> None:
    found = [
        problem
        for path, module in modules(FOLDER)
        for problem in misnamed(path.read_text(encoding="utf-8"), module)
    ]
    assert found == []


@pytest.mark.parametrize(
    "field", ["latency: float", "ttft: float | None", "link_bandwidth: NDArray[np.float64]"]
)
def test_a_field_without_its_unit_is_found(field: str) -> None:
    assert len(misnamed(f"class Some:\n    {field}\n", "m")) == 1


@pytest.mark.parametrize(
    "field", ["latency_s: float", "batch: int", "price_usd_per_hour: float", "rate: str"]
)
def test_units_counts_and_words_pass(field: str) -> None:
    assert misnamed(f"class Some:\n    {field}\n", "m") == []
