"""Sources tell which measured runs the numbers of an accelerator rest on."""

import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate


def serving_lines(**settings: str) -> list[str]:
    asked = {key.replace("__", "."): value for key, value in settings.items()}
    scenario, refused = apply_settings(load_presets()["rag_h100"].scenario, asked)
    assert refused == ()
    sources = evaluate(scenario, with_break_even=False).sources
    return [line for line in sources if "efficiency (serving over kernels" in line]


def test_a_family_with_measured_runs_is_named() -> None:
    (line,) = serving_lines()
    assert line.startswith("h100_sxm efficiency (serving over kernels, hopper): fitted, serving.csv")


@pytest.mark.parametrize(("chip", "family"), [("rtx5090", "blackwell_workstation"), ("m3_ultra", "apple")])
def test_a_family_without_any_says_so(chip: str, family: str) -> None:
    lines = serving_lines(decode__accelerator=chip, model__name="qwen3_8b", model__weight_format="bf16")
    (own,) = [line for line in lines if line.startswith(chip)]
    said = f"no serving run of family {family} was measured: kernel times as they stand"
    assert own.endswith(f"none): assumed, {said}")


def test_an_engine_that_launches_kernel_by_kernel_says_so_beside_the_others() -> None:
    first, second = serving_lines(colocated__engine="vllm_2023", engine__chunking="unchunked")
    assert "hopper): fitted" in first
    assert "none): assumed, vllm_2023 runs without CUDA graphs" in second
