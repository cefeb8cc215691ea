"""Effects are found where rows ask for them, and nowhere else."""

from collections.abc import Mapping

import numpy as np
import pytest

from pdexplorer.catalog.effects import levels_of, number_value
from pdexplorer.evidence.effect_fit import Observed, fit_effects
from pdexplorer.evidence.fitted_numbers import Numbers

NUMBERS = Numbers(("dense",), {"mfu": 0.7, "launch_s": 5e-6}, {"mfu": 0.3, "launch_s": 0.8})
WORK = np.geomspace(1e-7, 1e-2, 40)


def rows(chip: str, family: str, engine: str, mfu: float, launch_s: float, seed: int) -> Observed:
    noise = np.exp(0.02 * np.random.default_rng(seed).standard_normal(WORK.size))

    def predict(values: Mapping[str, float]) -> np.ndarray:
        return WORK / values["mfu"] + values["launch_s"]

    measured = predict({"mfu": mfu, "launch_s": launch_s}) * noise
    return Observed(levels_of(chip, family, engine, "bf16"), measured, np.ones(WORK.size), predict)


def test_an_engine_that_launches_slowly_has_one_effect() -> None:
    chips = (("a", "old"), ("b", "old"), ("c", "new"))
    observed = [rows(c, f, "fast", 0.8, 4e-6, i) for i, (c, f) in enumerate(chips)]
    observed += [rows(c, f, "slow", 0.8, 20e-6, 9 + i) for i, (c, f) in enumerate(chips)]
    found = fit_effects(NUMBERS, observed)
    assert set(found["mfu"]) == {"base"}
    assert found["mfu"]["base"] == pytest.approx(0.8, rel=0.02)
    assert len(found["launch_s"]) == 2
    for engine, launch_s in (("fast", 4e-6), ("slow", 20e-6)):
        levels = levels_of("a", "old", engine, "bf16")
        assert number_value("launch_s", found["launch_s"], levels) == pytest.approx(launch_s, rel=0.1)


def test_what_differs_by_less_than_it_is_worth_is_one_number() -> None:
    observed = [rows("a", "old", "fast", 0.80, 4e-6, 1), rows("b", "new", "fast", 0.81, 4e-6, 2)]
    assert {len(effects) for effects in fit_effects(NUMBERS, observed).values()} == {1}
    assert sum(len(effects) for effects in fit_effects(NUMBERS, observed, worth_rows=0.01).values()) > 2


def test_a_family_stands_for_its_chips() -> None:
    observed = [rows(chip, "old", "fast", 0.8, 4e-6, i) for i, chip in enumerate("ab")]
    observed += [rows(chip, "new", "fast", 0.4, 4e-6, 9 + i) for i, chip in enumerate("cde")]
    effects = fit_effects(NUMBERS, observed)["mfu"]
    unseen = levels_of("f", "new", "fast", "bf16")
    assert number_value("mfu", effects, unseen) == pytest.approx(0.4, rel=0.05)


def test_a_share_above_its_ceiling_is_fitted_and_told_at_it() -> None:
    """A chip that outruns its datasheet stands at the bound, and takes nothing else along."""
    observed = [rows("a", "old", "fast", 0.8, 4e-6, 1), rows("b", "old", "fast", 0.8, 4e-6, 2)]
    observed.append(rows("c", "new", "fast", 1.15, 4e-6, 3))
    found = fit_effects(NUMBERS, observed)
    values = found["mfu"]
    beyond = levels_of("c", "new", "fast", "bf16")
    assert number_value("mfu", values, beyond) == 1.0
    told = values["base"] * np.prod([values.get(f"{kind} {level}", 1.0) for kind, level in beyond.items()])
    assert told == pytest.approx(1.0, rel=1e-6)
    assert number_value("mfu", values, levels_of("a", "old", "fast", "bf16")) == pytest.approx(0.8, rel=0.02)
    assert number_value("launch_s", found["launch_s"], beyond) == pytest.approx(4e-6, rel=0.2)
