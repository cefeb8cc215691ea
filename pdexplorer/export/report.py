"""One question with its answer, as every export reads it: memo, page, summary, images."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.export.case import case_line
from pdexplorer.scenario.keys import keys
from pdexplorer.scenario.presets import Preset
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.scenario.settings import diff
from pdexplorer.study.compare import Evaluation, evaluate
from pdexplorer.study.confidence import with_confidence
from pdexplorer.study.map import MapResult
from pdexplorer.study.search.axes import AXES, current
from pdexplorer.study.sensitivity import Sensitivity, sensitivity
from pdexplorer.study.standing_map import here_on_map, standing_map, worked_out
from pdexplorer.study.words import number, percent
from pdexplorer.texts.catalogue import LANGUAGES, Texts
from pdexplorer.texts.verdict_words import (
    because_and_but,
    flip_label,
    flip_said,
    limits_of,
    sentence,
    title,
    unfair,
    unknown,
)
from pdexplorer.verdict import SHOWN

FLEETS = ("colocated", "disaggregated")


@dataclass(frozen=True)
class Flip:
    """Where along one setting the answer changes, from here to value, and to what: "stay colocated below 180
    input tokens"."""

    key: str
    here: float | None
    value: float
    unit: str
    text: str


@dataclass(frozen=True)
class Report:
    """preset: what the scenario is told as a difference from. link: address of the live page, may be empty.
    notes: what a reader has to know first, such as settings of a link that were refused; one line each.
    why: why the case is worth asking. language: in which everything but sources and values is told.
    """

    title: str
    preset: Preset
    scenario: Scenario
    evaluation: Evaluation
    link: str = ""
    notes: tuple[str, ...] = ()
    why: str = ""
    language: str = LANGUAGES[0]

    @cached_property
    def texts(self) -> Texts:
        """Everything that is said, by id."""
        return Texts(self.language)

    def text(self, key: str, /, **values: object) -> str:
        """A text of the exports with its values filled in."""
        return self.texts.text(f"export.{key}", **values)

    @cached_property
    def fleet_names(self) -> Mapping[str, str]:
        """What the fleets are called."""
        return {fleet: self.texts.text(f"fleet.{fleet}") for fleet in FLEETS}

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
            return worked_out(standing_map(self.scenario, self.here))
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
        if self.language == LANGUAGES[0] and not unknown(self.answer):
            return str(self.answer["verdict"]["sentence"])
        if unknown(self.answer):
            said = self.limits[0]
        else:
            said = sentence(self.texts, self.answer, self.limit_by_fleet)
        line = self.texts.text("verdict.line", title=title(self.texts, self.answer), sentence=said)
        end = self.texts.text("verdict.end")
        line = line if line.endswith(end) else f"{line}{end}"
        note = unfair(self.texts, self.scenario, self.catalog)
        return f"{line} {note}".rstrip()

    @property
    def case(self) -> str:
        """The question's main inputs on one line."""
        return case_line(self.texts, self.scenario)

    @property
    def edits_sentence(self) -> str:
        """What differs from the preset, on one line; empty where nothing does."""
        edits = ", ".join(f"{key} = {value}" for key, value in self.edited.items())
        return self.text("edited_from", preset=self.preset.name, edits=edits) if edits else ""

    @cached_property
    def limit_by_fleet(self) -> Mapping[str, str]:
        """What stops each fleet that cannot."""
        return limits_of(self.texts, self.answer)

    @property
    def limits(self) -> tuple[str, ...]:
        """The same, each limit once."""
        return tuple(dict.fromkeys(self.limit_by_fleet.values()))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons that are told, a sentence each, what speaks against the verdict marked so."""
        because, but = because_and_but(self.texts, self.evaluation.verdict, self.answer)
        gap = "" if self.language == "zh" else " "
        return (*because, *(f"{self.texts.text('verdict.but')}{gap}{told}" for told in but))

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """Nearest first."""
        break_even = self.answer["verdict"]["break_even"]
        return tuple(self._flip(flip) for flip in break_even if flip["value"] is not None)

    @property
    def flips_sentence(self) -> str:
        """The three nearest flips; empty where neither fleet can."""
        if not any(self.answer[fleet]["feasible"] for fleet in FLEETS):
            return ""
        nearest = self.text("flips_joined").join(flip.text for flip in self.flips[:SHOWN])
        if not nearest:
            return "" if self.answer["verdict"]["undecided"] else self.text("no_flip")
        return self.text("flips", flips=nearest)

    @cached_property
    def steady_settings(self) -> tuple[str, ...]:
        """Names of the settings that were swept and do not flip the answer anywhere."""
        return tuple(
            flip_label(self.texts, str(flip["key"]))
            for flip in self.answer["verdict"]["break_even"]
            if flip["value"] is None
        )

    @property
    def map_sentence(self) -> str:
        """The map in words."""
        if self.map is None:
            return self.text("no_map")
        won = {
            side: percent(float((self.map.winner == side).mean())) for side in (*FLEETS, "equal", "neither")
        }
        x, y = self.map.x_values, self.map.y_values
        return self.text(
            "map_sentence",
            x_low=number(float(x[0])),
            x_high=number(float(x[-1])),
            y_low=number(float(y[0])),
            y_high=number(float(y[-1])),
            basis=self.text(f"ratio.{self.map.gain_key}"),
            split=won["disaggregated"],
            colocated=won["colocated"],
            equal=won["equal"],
            neither=won["neither"],
            x=number(self.here[0]),
            y=number(self.here[1]),
        )

    def _flip(self, flip: Mapping[str, Any]) -> Flip:
        key, value = str(flip["key"]), float(flip["value"])
        here = self._standing(key)
        said = flip_said(self.texts, self.answer, flip, here)
        if self.language == "zh" and said[0].isascii():
            said = f" {said}"  # between Chinese and Latin letters
        if flip["then"]:
            said = self.text("flip", decision=self._decision(str(flip["then"])), flip=said)
        else:
            said = self.text("flip_plain", flip=said)
        return Flip(key, here, value, str(flip["unit"]), said)

    def _decision(self, decision: str) -> str:
        """A decision within a sentence."""
        words = self.texts.text(f"verdict.{decision}")
        return words[0].lower() + words[1:]

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
    language: str = LANGUAGES[0],
) -> Report:
    """The report of a scenario; evaluation where it is known already, title and why where not the preset's.

    ValueError as for an evaluation, and for a language there is not.
    """
    called, worth = Texts(language).preset(preset)
    if diff(scenario, preset.scenario):
        called = Texts(language).text("export.edited", title=called)
    return Report(
        called if title is None else title,
        preset,
        scenario,
        evaluation or answered(scenario),
        link,
        notes,
        worth if why is None else why,
        language,
    )


def answered(scenario: Scenario) -> Evaluation:
    """The answer as the shell gives it, with how sure it is. ValueError as for an evaluation."""
    return with_confidence(evaluate(scenario))


def describe(texts: Texts, key: str) -> str:
    """What a dotted key means, in one sentence; empty for the open families."""
    known = keys().get(key)
    return "" if known is None else texts.described(key, known.description)
