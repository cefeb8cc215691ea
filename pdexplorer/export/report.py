"""One question with its answer, as every export reads it: memo, page, summary, images."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.export.standing_map import here_on_map, standing_map
from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.presets import Preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import diff
from pdexplorer.study.axes import AXES, current
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.confidence import with_confidence
from pdexplorer.study.map import MapResult
from pdexplorer.study.sensitivity import Sensitivity, sensitivity
from pdexplorer.study.words import RATIO, number, percent, setting

FLEETS = ("colocated", "disaggregated")
FLEET_NAMES: Mapping[str, str] = {"colocated": "Colocated", "disaggregated": "Disaggregated"}
MOST_REASONS = 3


@dataclass(frozen=True)
class Flip:
    """Where along one setting the answer changes, from here to value, and to what: "stay colocated below 180
    input tokens"."""

    key: str
    here: float | None
    value: float
    unit: str
    text: str
    distance: float


@dataclass(frozen=True)
class Report:
    """preset: what the scenario is told as a difference from. link: address of the live page, may be empty.
    notes: what a reader has to know first, such as settings of a link that were refused; one line each.
    why: why the case is worth asking.
    """

    title: str
    preset: Preset
    scenario: Scenario
    evaluation: Evaluation
    link: str = ""
    notes: tuple[str, ...] = ()
    why: str = ""

    @cached_property
    def answer(self) -> Mapping[str, Any]:
        """The answer with the shell's keys."""
        return self.evaluation.to_json()

    @cached_property
    def catalog(self) -> Catalog:
        """The catalogue with the scenario's own figures in it."""
        return load_catalog().with_overrides(self.scenario.overrides)

    @cached_property
    def map(self) -> MapResult | None:
        """The break-even map; None where there is none to draw."""
        try:
            return standing_map(self.scenario, self.catalog)
        except ValueError:
            return None

    @cached_property
    def here(self) -> tuple[float, float]:
        """Where the scenario stands on the map."""
        return here_on_map(self.scenario, self.catalog)

    @cached_property
    def edited(self) -> Mapping[str, str]:
        """What differs from the preset."""
        return diff(self.scenario, self.preset.scenario, self.catalog)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """What differs from the defaults."""
        return diff(self.scenario, Scenario(), self.catalog)

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """How far each input moves the gain; None where there is no gain to move."""
        if not any(self.answer[fleet]["feasible"] for fleet in FLEETS):
            return None
        found = sensitivity(self.scenario)
        return found if found.rows and found.gain is not None else None

    @property
    def headline(self) -> str:
        """The verdict in a sentence; where a figure is missing, that nothing can be said yet."""
        for fleet in FLEETS:
            limit = self.answer[fleet]["infeasible"]
            if limit is not None and limit["limit"] == "missing_figure":
                return f"Cannot judge yet: {limit['text']}."
        return str(self.answer["verdict"]["sentence"])

    @property
    def case(self) -> str:
        """The question's main inputs on one line."""
        model, work, slo = self.scenario.model, self.scenario.workload, self.scenario.slo
        if work.mode == "offline":
            load = "batch job"
        elif work.arrivals == "closed_loop":
            load = f"{work.concurrency:,} in flight"
        else:
            load = f"{number(work.rate_per_s * work.peak_to_mean_ratio)} requests/s"
        limits = [("TTFT", slo.ttft_s, "s"), ("TPOT", slo.tpot_ms, "ms"), ("end to end", slo.e2e_s, "s")]
        held = ", ".join(
            f"{name} ≤ {number(value)} {unit}" for name, value, unit in limits if value is not None
        )
        if work.mode == "offline" or not held:
            held = "no latency limit"
        else:
            held = f"{held} at P{number(slo.percentile)}"
        name = model.name if model.architecture is None else model.architecture.name
        return (
            f"{name} {model.weight_format} · {work.input_tokens:,.6g} in / {work.output_tokens:,.6g} out "
            f"tokens · {percent(work.prefix_hit_fraction)} prefix hit · {load} · {held} · "
            f"{self.scenario.prefill.accelerator} → {self.scenario.decode.accelerator} over "
            f"{self.scenario.network.link} · {self.scenario.engine.profile}"
        )

    @property
    def edits_sentence(self) -> str:
        """What differs from the preset, on one line; empty where nothing does."""
        edits = ", ".join(f"{key} = {value}" for key, value in self.edited.items())
        return f"Edited from preset {self.preset.name}: {edits}." if edits else ""

    @property
    def limits(self) -> tuple[str, ...]:
        """What stops each fleet that cannot, each limit once."""
        found = (self.answer[fleet]["infeasible"] for fleet in FLEETS)
        return tuple(dict.fromkeys(str(limit["text"]) for limit in found if limit is not None))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The weightiest reasons, a sentence each, without limits that are named beside them anyway."""
        texts = (str(reason["text"]) for reason in self.answer["verdict"]["reasons"])
        return tuple(text for text in texts if not any(limit in text for limit in self.limits))[:MOST_REASONS]

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """Nearest first."""
        found = [
            self._flip(flip) for flip in self.answer["verdict"]["break_even"] if flip["value"] is not None
        ]
        return tuple(sorted(found, key=lambda flip: flip.distance))

    @property
    def flips_sentence(self) -> str:
        """The three nearest flips; empty where neither fleet can."""
        if not any(self.answer[fleet]["feasible"] for fleet in FLEETS):
            return ""
        nearest = "; ".join(flip.text for flip in self.flips[:3])
        return f"Flips: {nearest}." if nearest else "Nothing within the inputs' ranges flips it."

    @cached_property
    def steady_settings(self) -> tuple[str, ...]:
        """Names of the settings that were swept and do not flip the answer anywhere."""
        return tuple(
            setting(str(flip["key"]))
            for flip in self.answer["verdict"]["break_even"]
            if flip["value"] is None
        )

    @property
    def map_sentence(self) -> str:
        """The map in words."""
        if self.map is None:
            return "There is no map for this scenario."
        won = {side: float((self.map.winner == side).mean()) for side in (*FLEETS, "equal", "neither")}
        basis = RATIO[self.map.gain_key]
        x, y = self.map.x_values, self.map.y_values
        return (
            f"Over {number(float(x[0]))} to {number(float(x[-1]))} input tokens and {number(float(y[0]))} to "
            f"{number(float(y[-1]))} Gbit/s per NIC ({basis}): separate pools win in "
            f"{percent(won['disaggregated'])} of the map, the colocated fleet in "
            f"{percent(won['colocated'])}; {percent(won['equal'])} lies within 10%, and in "
            f"{percent(won['neither'])} neither can. "
            f"This scenario stands at {number(self.here[0])} tokens and {number(self.here[1])} Gbit/s."
        )

    def _flip(self, flip: Mapping[str, Any]) -> Flip:
        key, value = str(flip["key"]), float(flip["value"])
        here = self._standing(key)
        if here is None:
            distance = math.inf
        elif here > 0 and value > 0:
            distance = abs(math.log(value / here))
        else:
            distance = abs(value - here)
        text = str(flip["text"]) if flip["then"] else f"splitting {flip['text']}"
        return Flip(key, here, value, str(flip["unit"]), text, distance)

    def _standing(self, key: str) -> float | None:
        if key in AXES:
            return current(self.scenario, self.catalog, key)
        if key.startswith("money.usd_per_hour."):
            accelerator = key.rpartition(".")[2]
            set_by_hand = self.scenario.money.usd_per_hour.get(accelerator)
            known = self.catalog.accelerators.get(accelerator)
            return set_by_hand or (None if known is None else known.rent_usd_per_hour)
        return None


def report_of(
    scenario: Scenario,
    preset: Preset,
    *,
    evaluation: Evaluation | None = None,
    link: str = "",
    notes: tuple[str, ...] = (),
    title: str | None = None,
    why: str | None = None,
) -> Report:
    """The report of a scenario; evaluation where it is known already, title and why where not the preset's.

    ValueError as for an evaluation.
    """
    return Report(
        preset.title if title is None else title,
        preset,
        scenario,
        evaluation or answered(scenario),
        link,
        notes,
        preset.why if why is None else why,
    )


def answered(scenario: Scenario) -> Evaluation:
    """The answer as the shell gives it, with how sure it is. ValueError as for an evaluation."""
    return with_confidence(evaluate(scenario))


def describe(key: str) -> str:
    """What a dotted key means, in one sentence; empty for the open families."""
    known = keys().get(key)
    return "" if known is None else known.description
