"""Efficiencies from measured kernel times: each group of operators is fitted on its own column.

Two stages. First one set of numbers over all rows of a format, whatever the chip: shares of datasheet
ceilings
differ little. Then each chip and engine moves away from that as far as its own rows ask. Nothing is
fitted per model.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.efficiency import link_kind
from pdexplorer.evidence.columns import Block, Floats, blocks_of, predicted_s
from pdexplorer.evidence.fit_rows import Rows, dense_format, expert_format, fit_record, for_chip
from pdexplorer.evidence.fitted_numbers import (
    BLOCK_ROWS,
    COLLECTIVES,
    DECODE,
    ELEMENTWISE,
    EXPERTS,
    GEMM,
    LATENT_DECODE,
    LATENT_HEADS_FLOOR,
    LATENT_PREFILL,
    PREFILL,
    RESIDUAL,
    SERIAL_PREFILL,
    SHARED_LINK,
    Numbers,
    Table,
    prior_entries,
)
from pdexplorer.evidence.least_squares import fit_positive
from pdexplorer.evidence.points import StepPoint
from pdexplorer.evidence.reduce_points import ReducePoint, reduce_point_s
from pdexplorer.physics.plan import compile_plan


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted entries by part, and how many numbers were fitted to how many rows."""

    entries: Table
    parameters: int
    rows: int


def fit(
    points: Iterable[StepPoint], catalog: Catalog, source: str, reduces: Sequence[ReducePoint] = ()
) -> Calibration:
    """Entries fitted to the given points (and single all-reduces) and to nothing else.

    source: what the entries say they come from.
    """
    table = prior_entries()
    blocks = blocks_of(points, catalog, {key: tuple(value) for key, value in table.items()})
    fitter = _Fitter(table, blocks, source, tuple(reduces), catalog)
    fitter.fit_all()
    return Calibration(table, fitter.parameters, sum(block.total_s.size for block in blocks))


@dataclass(slots=True)
class _Fitter:
    table: Table
    blocks: list[Block]
    source: str
    reduces: tuple[ReducePoint, ...]
    catalog: Catalog
    parameters: int = 0

    def fit_all(self) -> None:
        gqa = [block for block in self.blocks if block.instance.architecture.attention == "gqa"]
        latent = [block for block in self.blocks if block.instance.architecture.attention == "mla"]
        self._fit_family([ELEMENTWISE], self.blocks, lambda block: "any", by_chip=False)
        for only_bf16 in (True, False):  # the LM head of every format runs in bf16
            chosen = [b for b in gqa if (dense_format(b) == "bf16") == only_bf16]
            self._fit_family([GEMM], chosen, dense_format)
        # Where whole iterations were timed, prefill and decode of a mixed step share one kernel.
        whole = {(b.instance.accelerator.id, b.instance.engine.id) for b in gqa if b.joined}
        self._fit_family([PREFILL, DECODE], gqa, lambda block: block.instance.kv_format)
        for chip, engine in sorted(whole):
            own = [b for b in gqa if (b.instance.accelerator.id, b.instance.engine.id) == (chip, engine)]
            for kv_format in sorted({b.instance.kv_format for b in own}):
                blocks = [b for b in own if b.instance.kv_format == kv_format]
                start = replace(
                    self._start("attention", kv_format, engine),
                    serial_key_s=SERIAL_PREFILL.start["serial_key_s"],
                    mixed_block_rows=BLOCK_ROWS,
                )
                self._fit_chip([SERIAL_PREFILL, DECODE], blocks, start, kv_format, engine)
        moe = [block for block in self.blocks if block.instance.architecture.experts]
        self._fit_family([EXPERTS], moe, expert_format)
        for numbers, kind in ((COLLECTIVES, "nvlink"), (SHARED_LINK, "pcie")):
            # Latent-attention rows book their collectives under other columns in decode: left out.
            spread = [b for b in gqa if b.instance.gpus > 1 and link_kind(b.instance.accelerator) == kind]
            self._fit_family([numbers], spread, lambda block, kind=kind: kind)  # type: ignore[misc]
            self._fit_reduces(numbers, kind)
        self._fit_family(
            [LATENT_PREFILL, LATENT_DECODE], latent, lambda block: f"mla_{block.instance.kv_format}"
        )

    def _fit_family(
        self,
        groups: list[Numbers],
        blocks: list[Block],
        format_of: Callable[[Block], str],
        by_chip: bool = True,
    ) -> None:
        """Fit one part for each format and engine: pooled over chips, then chip by chip."""
        kinds = sorted(
            {(format_of(block), block.instance.engine.id if by_chip else "vllm") for block in blocks}
        )
        for fmt, engine in kinds:
            own = [
                block
                for block in blocks
                if format_of(block) == fmt and (not by_chip or block.instance.engine.id == engine)
            ]
            pooled = self._start(groups[0].part, fmt, engine)
            if groups[0].part == "attention" and fmt.startswith("mla"):
                pooled = replace(pooled, decode_heads_floor=LATENT_HEADS_FLOOR.get(engine, 1.0))
            for numbers in groups:
                pooled = self._fit_one(numbers, own, pooled)
            self._put(groups[0].part, self._labelled(pooled, groups, own, None, fmt, engine))
            if by_chip:
                for accelerator_id in sorted({block.instance.accelerator.id for block in own}):
                    chip = [block for block in own if block.instance.accelerator.id == accelerator_id]
                    self._fit_chip(groups, chip, pooled, fmt, engine)

    def _fit_chip(self, groups: list[Numbers], chip: list[Block], pooled: Any, fmt: str, engine: str) -> None:
        entry = for_chip(pooled, chip[0].instance.accelerator)
        for numbers in groups:
            entry = self._fit_one(numbers, chip, entry)
        self._put(groups[0].part, self._labelled(entry, groups, chip, chip[0], fmt, engine))

    def _fit_reduces(self, numbers: Numbers, kind: str) -> None:
        """Let single all-reduces correct what steps of few GPUs left open, chip by chip, for vLLM."""
        for accelerator_id in sorted({point.accelerator for point in self.reduces}):
            chip = self.catalog.accelerators[accelerator_id]
            if link_kind(chip) != kind:
                continue
            own = [point for point in self.reduces if point.accelerator == accelerator_id]
            blocks = [
                b
                for b in self.blocks
                if b.instance.gpus > 1
                and (b.instance.accelerator.id, b.instance.engine.id) == (chip.id, "vllm")
            ]
            entry = self._fit_one(numbers, blocks, self._start("collective", kind, "vllm"), own)
            fit = replace(
                self._labelled(entry, [numbers], blocks, None, kind, "vllm").fit,
                accelerator=chip.id,
                family=chip.family,
                source=f"{self.source}; single all-reduces of aiconfigurator's tables",
            )
            points = fit.points + len(own)
            self._put("collective", replace(entry, fit=replace(fit, points=points)))

    def _start(self, part: str, fmt: str, engine: str) -> Any:
        """Where a fit starts: this format's pooled numbers, this engine's before others', else bf16's, else
        the prior.
        """
        defaults = [entry for entry in self.table[part] if entry.fit.accelerator == "default"]
        order = sorted(
            defaults, key=lambda e: (e.fit.format != fmt, e.fit.format != "bf16", e.fit.engine != engine)
        )
        return order[0]

    def _fit_one(
        self, numbers: Numbers, blocks: list[Block], entry: Any, reduces: Sequence[ReducePoint] = ()
    ) -> Any:
        rows = [Rows(block, *self._target(block, numbers)) for block in blocks]
        rows = [row for row in rows if row.use.any()]
        if not rows and not reduces:
            return entry
        names = list(numbers.start)
        single = np.array([point.seconds for point in reduces])
        measured = np.concatenate([*(row.measured_s[row.use] for row in rows), single])
        weight = np.full(single.size, max(1.0, 0.03 * measured.size))
        weights = np.concatenate([*(row.weight[row.use] for row in rows), weight])

        def predict(theta: Floats) -> Floats:
            trial = replace(entry, **dict(zip(names, (float(value) for value in theta), strict=True)))
            alone = [reduce_point_s(trial, point, self.catalog) for point in reduces]
            return np.concatenate([*(self._predicted(row, numbers, trial)[row.use] for row in rows), alone])

        # A prior weighs as a share of the rows: what the form cannot describe must not drag it away by
        # their number.
        scale = max(1.0, measured.size / 40.0)
        pulls = np.array([scale * (RESIDUAL / numbers.spread[name]) ** 2 for name in names])
        start = np.array([getattr(entry, name) for name in names])
        theta = fit_positive(predict, start, measured, weights=weights, prior_weights=pulls)
        self.parameters += len(names)
        found = dict(zip(names, (float(value) for value in theta), strict=True))
        if "small_launch_ratio" in found:  # above 1 a larger batch would be the faster one
            found["small_launch_ratio"] = min(found["small_launch_ratio"], 1.0)
        return replace(entry, **found)

    def _target(self, block: Block, numbers: Numbers) -> tuple[Floats, Floats]:
        measured = block.measured_s[numbers.group]
        base = np.zeros_like(measured)
        if block.instance.architecture.attention == "mla" and numbers.part == "attention":
            # The latent projections are timed inside the attention module in one phase, outside it in the
            # other.
            plan = self._plan(
                block, "attention", self._start("attention", "mla_fp8", block.instance.engine.id)
            )
            base = predicted_s(plan, block, "dense")
            measured = measured + block.measured_s["dense"]
        return measured, base

    def _predicted(self, row: Rows, numbers: Numbers, entry: Any) -> Floats:
        return row.base_s + predicted_s(self._plan(row.block, numbers.part, entry), row.block, numbers.group)

    def _plan(self, block: Block, part: str, entry: Any) -> Any:
        efficiency = block.instance.efficiency
        settled = {
            "elementwise": self._settled("elementwise", block, "any"),
            "gemm": self._settled("gemm", block, dense_format(block)),
            "head": self._settled("gemm", block, "bf16"),
        }
        settled[part] = entry
        if part == "gemm" and dense_format(block) == "bf16":
            settled["head"] = entry
        return compile_plan(replace(block.instance, efficiency=replace(efficiency, **settled)))

    def _settled(self, part: str, block: Block, fmt: str) -> Any:
        """What has been fitted so far for this block's chip, engine and format."""
        own = block.instance
        best = None
        for entry in self.table[part]:
            if entry.fit.format not in (fmt, "any"):
                continue
            if (entry.fit.accelerator, entry.fit.engine) == (own.accelerator.id, own.engine.id):
                return entry
            if entry.fit.accelerator == "default":
                best = entry
        return best or self.table[part][0]

    def _labelled(
        self,
        entry: Any,
        groups: list[Numbers],
        blocks: list[Block],
        chip: Block | None,
        fmt: str,
        engine: str,
    ) -> Any:
        errors, weights = [np.zeros(0)], [np.zeros(0)]
        for numbers in groups:
            for block in blocks:
                row = Rows(block, *self._target(block, numbers))
                if row.use.any():
                    trial = entry if chip is not None else for_chip(entry, block.instance.accelerator)
                    ratio = self._predicted(row, numbers, trial)[row.use] / row.measured_s[row.use]
                    errors.append(np.abs(ratio - 1.0))
                    weights.append(row.weight[row.use])
        fitted = fit_record(np.concatenate(errors), np.concatenate(weights))
        fitted = replace(
            fitted,
            accelerator=chip.instance.accelerator.id if chip else "default",
            family=chip.instance.accelerator.family if chip else "any",
            engine=engine,
            format=fmt,
            source=self.source if chip else f"all chips together: {self.source}",
        )
        return replace(entry, fit=fitted)

    def _put(self, part: str, entry: Any) -> None:
        key = (entry.fit.accelerator, entry.fit.engine, entry.fit.format)
        kept = [e for e in self.table[part] if (e.fit.accelerator, e.fit.engine, e.fit.format) != key]
        self.table[part] = [*kept, entry]
