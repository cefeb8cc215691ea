"""Efficiencies from measured kernel times: each section of kernels is fitted on its own column.

Shares of datasheet ceilings differ little between chips, so a section's numbers are bases with few
effects of chip, family, engine and format, fitted to all rows at once. Nothing is fitted per model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.effects import fitted_count, levels_of, number_value
from pdexplorer.catalog.efficiency import PARTS, Fit, entries_of, link_kind
from pdexplorer.evidence.columns import Block, Floats, blocks_of, predicted_s
from pdexplorer.evidence.effect_fit import Observed, fit_effects
from pdexplorer.evidence.fit_rows import Rows, constants_of, dense_format, fit_record, format_of, row_of
from pdexplorer.evidence.fitted_numbers import (
    ATTENTION,
    ELEMENTWISE,
    EXPERTS,
    GEMM,
    JOINED_ATTENTION,
    LATENT_ATTENTION,
    NVLINK,
    PCIE,
    PRIOR_FORMATS,
    SECTIONS,
    Numbers,
    Section,
    Table,
)
from pdexplorer.evidence.points import StepPoint
from pdexplorer.evidence.reduce_points import ReducePoint, reduce_point_s
from pdexplorer.physics.plan import StepPlan, compile_plan

_NO_FIT = Fit("default", "any", "vllm", "bf16", "assumed", "prior", 0, None, None, 0.15)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fit as the catalogue stores it, and how many rows it is to."""

    document: Mapping[str, Any]
    rows: int

    @property
    def entries(self) -> Table:
        """Entries by part."""
        return entries_of(self.document)

    @property
    def parameters(self) -> int:
        """How many numbers were fitted."""
        return fitted_count(self.document)


def fit(
    points: Iterable[StepPoint], catalog: Catalog, source: str, reduces: Sequence[ReducePoint] = ()
) -> Calibration:
    """Numbers fitted to the given points (and single all-reduces) and to nothing else.

    source: what the entries say they come from.
    """
    blocks = blocks_of(points, catalog, prior_entries())
    fitter = _Fitter(blocks, source, tuple(reduces), catalog)
    document = {section.name: found for section in SECTIONS if (found := fitter.fitted(section))}
    for section in SECTIONS:
        if section.name in PRIOR_FORMATS and not _measured(section, document.get(section.name)):
            document[f"{section.name}_assumed"] = _prior(section)
    return Calibration(document, sum(block.total_s.size for block in blocks))


def prior_entries() -> Table:
    """Entries before any fit: what a GPU is assumed to reach."""
    return entries_of({s.name: _prior(s) for s in SECTIONS if s.name in PRIOR_FORMATS})


def _prior(section: Section) -> dict[str, Any]:
    record = replace(_NO_FIT, format=PRIOR_FORMATS[section.name])
    row = row_of(record, constants_of(section, None, record.engine))
    starts = {name: start for numbers in section.numbers for name, start in numbers.start.items()}
    return {"part": section.part, "columns": [*row, *starts], "rows": [[*row.values(), *starts.values()]]}


def _measured(section: Section, found: Mapping[str, Any] | None) -> bool:
    """Whether rows had the format that the section's starting numbers stand for; else these stay an entry."""
    if found is None:
        return False
    place = found["columns"].index("format")
    return any(row[place] == PRIOR_FORMATS[section.name] for row in found["rows"])


@dataclass(slots=True)
class _Fitter:
    blocks: list[Block]
    source: str
    reduces: tuple[ReducePoint, ...]
    catalog: Catalog
    found: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    entries: dict[tuple[str, ...], Any] = field(default_factory=dict)

    def fitted(self, section: Section) -> dict[str, Any] | None:
        """The section as stored: its numbers by effect, and how well they describe each group of rows."""
        blocks = self._blocks_of(section)
        chips = self.catalog.accelerators
        reduces = [p for p in self.reduces if link_kind(chips[p.accelerator]) == section.name]
        if not blocks and not reduces:
            return None
        for numbers in section.numbers:
            observed = self._observed(section, numbers, blocks)
            if section.part == "collective":
                observed += self._observed_reduces(section, numbers, blocks, reduces)
            if observed:
                self.found.setdefault(section.name, {}).update(fit_effects(numbers, observed))
                self.entries.clear()
        rows = self._rows(section, blocks, reduces)
        return {
            "part": section.part,
            "columns": list(rows[0]),
            "rows": [list(row.values()) for row in rows],
            "numbers": self._numbers(section),
        }

    def _numbers(self, section: Section) -> dict[str, dict[str, float]]:
        """Fitted numbers, and starts of those no row determined."""
        starts = {name: {"base": v} for numbers in section.numbers for name, v in numbers.start.items()}
        return starts | self.found.get(section.name, {})

    def _blocks_of(self, section: Section) -> list[Block]:
        gqa = [b for b in self.blocks if b.instance.architecture.attention == "gqa"]
        if section is ELEMENTWISE:
            return self.blocks
        if section is LATENT_ATTENTION:
            return [b for b in self.blocks if b.instance.architecture.attention == "mla"]
        if section is EXPERTS:
            return [b for b in self.blocks if b.instance.architecture.experts]
        if section in (ATTENTION, JOINED_ATTENTION):
            return [b for b in gqa if b.joined == (section is JOINED_ATTENTION)]
        if section in (NVLINK, PCIE):
            # Latent-attention rows book their collectives under other columns in decode: left out.
            spread = [b for b in gqa if b.instance.gpus > 1]
            return [b for b in spread if link_kind(b.instance.accelerator) == section.name]
        return gqa

    def _observed(self, section: Section, numbers: Numbers, blocks: Sequence[Block]) -> list[Observed]:
        observed = []
        for block, group in product(blocks, numbers.groups):
            rows = self._target(section, group, block)
            if rows.use.any():
                levels = _levels(block, format_of(section, block))
                predict = self._predictor(section, group, rows)
                observed.append(Observed(levels, rows.measured_s[rows.use], rows.weight[rows.use], predict))
        return observed

    def _predictor(self, section: Section, group: str, rows: Rows) -> Any:
        block = rows.block
        entry = self._entry(section, block, format_of(section, block))

        def predict(values: Mapping[str, float]) -> Floats:
            trial = replace(entry, **values)
            seconds = predicted_s(self._plan(block, section, trial), block, group)
            return (rows.base_s + seconds)[rows.use]

        return predict

    def _observed_reduces(
        self, section: Section, numbers: Numbers, blocks: Sequence[Block], reduces: Sequence[ReducePoint]
    ) -> list[Observed]:
        """Single all-reduces: what collectives among many GPUs of a node rest on, where steps had few."""
        counted = sum(int(self._target(section, numbers.groups[0], block).use.sum()) for block in blocks)
        weight = np.array([max(1.0, 0.03 * counted)])
        observed = []
        for point in reduces:
            chip = self.catalog.accelerators[point.accelerator]
            entry = PARTS["collective"](**section.constants, **numbers.start, fit=_NO_FIT)

            def predict(values: Mapping[str, float], point: Any = point, entry: Any = entry) -> Floats:
                return np.array([reduce_point_s(replace(entry, **values), point, self.catalog)])

            levels = levels_of(chip.id, chip.family, "vllm", section.name)
            observed.append(Observed(levels, np.array([point.seconds]), weight, predict))
        return observed

    def _target(self, section: Section, group: str, block: Block) -> Rows:
        measured = block.measured_s[group]
        base = np.zeros_like(measured)
        if section is LATENT_ATTENTION:
            # The latent projections are timed inside the attention module in one phase, outside it in the
            # other.
            base = predicted_s(self._plan(block), block, "dense")
            measured = measured + block.measured_s["dense"]
        return Rows(block, measured, base)

    def _plan(self, block: Block, section: Section | None = None, entry: Any = None) -> StepPlan:
        """The block's plan with what has been fitted so far, and `entry` for the section on trial."""
        settled = {
            "elementwise": self._entry(ELEMENTWISE, block, "any"),
            "gemm": self._entry(GEMM, block, dense_format(block)),
            "head": self._entry(GEMM, block, "bf16"),  # the LM head of every format runs in bf16
        }
        if section is not None:
            settled[section.part] = entry
        if section is GEMM and dense_format(block) == "bf16":
            settled["head"] = entry
        efficiency = replace(block.instance.efficiency, **settled)
        return compile_plan(replace(block.instance, efficiency=efficiency))

    def _entry(self, section: Section, block: Block, fmt: str) -> Any:
        """The section's entry for a block at what is fitted by now; its starts before."""
        levels = _levels(block, fmt)
        key = (section.name, *levels.values())
        if key not in self.entries:
            chip = block.instance.accelerator
            constants = constants_of(section, chip.family, block.instance.engine.id)
            values = {name: number_value(name, e, levels) for name, e in self._numbers(section).items()}
            self.entries[key] = PARTS[section.part](**{**constants, **values}, fit=_NO_FIT)
        return self.entries[key]

    def _rows(
        self, section: Section, blocks: Sequence[Block], reduces: Sequence[ReducePoint]
    ) -> list[dict[str, Any]]:
        """One row a chip, engine and format, and one for all chips together, for those nobody measured."""
        groups: dict[tuple[str, str, str], list[Block]] = {}
        for block in blocks:
            engine, fmt = block.instance.engine.id, format_of(section, block)
            if section is ELEMENTWISE:
                groups.setdefault(("default", "vllm", fmt), []).append(block)
                continue
            if section is not JOINED_ATTENTION:
                groups.setdefault(("default", engine, fmt), []).append(block)
            groups.setdefault((block.instance.accelerator.id, engine, fmt), []).append(block)
        for point in reduces:
            groups.setdefault((point.accelerator, "vllm", section.name), [])
        rows = []
        for (chip, engine, fmt), own in sorted(groups.items()):
            single = sum(point.accelerator == chip for point in reduces) if engine == "vllm" else 0
            rows.append(self._row(section, chip, engine, fmt, own, single))
        return rows

    def _row(
        self, section: Section, chip: str, engine: str, fmt: str, blocks: Sequence[Block], single: int
    ) -> dict[str, Any]:
        errors, weights = [np.zeros(0)], [np.zeros(0)]
        for numbers in section.numbers:
            for block, group in product(blocks, numbers.groups):
                rows = self._target(section, group, block)
                if rows.use.any():
                    entry = self._entry(section, block, fmt)
                    predicted = self._predictor(section, group, rows)(
                        {name: getattr(entry, name) for name in numbers.start}
                    )
                    errors.append(np.abs(predicted / rows.measured_s[rows.use] - 1.0))
                    weights.append(rows.weight[rows.use])
        family = "any" if chip == "default" else self.catalog.accelerators[chip].family
        source = f"all chips together: {self.source}" if chip == "default" else self.source
        if single:
            source += "; single all-reduces of aiconfigurator's tables"
        record = replace(
            fit_record(np.concatenate(errors), np.concatenate(weights)),
            accelerator=chip,
            family=family,
            engine=engine,
            format=fmt,
            source=source,
        )
        record = replace(record, points=record.points + single)
        return row_of(record, constants_of(section, None if chip == "default" else family, engine))


def _levels(block: Block, fmt: str) -> dict[str, str]:
    chip = block.instance.accelerator
    return levels_of(chip.id, chip.family, block.instance.engine.id, fmt)
