"""Every pair of accelerators as prefill and decode pool, ranked by what a request costs within the limits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.infeasible import Infeasible
from pdexplorer.metrics.money import price_of
from pdexplorer.physics.formats import compute_unit
from pdexplorer.physics.instance import Instance
from pdexplorer.physics.resolve import resolve_instance
from pdexplorer.scenario.fleet_block import Pool
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.steady.load import load_of
from pdexplorer.steady.solve import ROUGH
from pdexplorer.study.pair_words import role_text
from pdexplorer.study.progress import Report, span, unheard
from pdexplorer.study.search.score import network_weights, score_disaggregated
from pdexplorer.study.search.space import Space, design_space, shapes
from pdexplorer.study.search.space_of import space_of

Array = NDArray[np.float64]

FURTHER_PREFILL_FORMATS = ("nvfp4",)
"""KV is the same whatever the weights' format, so a prefill pool may use fp4 units before fp8 decode."""

SECONDS_PER_HOUR = 3600.0
_CLASSES = 8


@dataclass(frozen=True)
class PairRow:
    """A pair at its best parallelism, unrounded scale. Money is None where a price is missing; then
    winning_usd_per_hour is the price, of the unpriced accelerator, at which the pair costs as much as the
    best priced one. kv_tokens: of one decode instance. limit: why a pair cannot, everything else None.
    """

    prefill: str
    decode: str
    prefill_gpus: int | None
    decode_gpus: int | None
    prefill_format: str
    decode_format: str
    usd_per_million_requests: float | None
    gpus_per_request_per_s: float | None
    prefill_usd_per_million_tokens: float | None
    decode_usd_per_million_tokens: float | None
    kv_tokens: float | None
    unpriced: tuple[str, ...]
    winning_usd_per_hour: float | None
    prefill_reason: str
    decode_reason: str
    limit: str


def rank_pairs(
    scenario: Scenario,
    catalog: Catalog | None = None,
    accelerators: Sequence[str] | None = None,
    prefill_formats: Sequence[str] = FURTHER_PREFILL_FORMATS,
    report: Report = unheard,
) -> tuple[PairRow, ...]:
    """Cheapest first, then unpriced ones, then those that cannot. accelerators: all of the catalogue unless
    given. prefill_formats: further weight formats the prefill pool may use where the chip has units for them,
    in rows of their own; none where the scenario says the pool's format. report: told the share done.
    """
    if scenario.prefill.weight_format is not None:
        prefill_formats = ()
    catalog = (catalog or load_catalog()).with_overrides(scenario.overrides)
    names = tuple(catalog.accelerators) if accelerators is None else tuple(accelerators)
    formats = tuple(dict.fromkeys((scenario.prefill.weight_format, *prefill_formats)))
    prefill, cannot_prefill = _instances(scenario, catalog, names, scenario.prefill, formats)
    decode, cannot_decode = _instances(
        scenario, catalog, names, scenario.decode, (scenario.decode.weight_format,)
    )
    report(0.1)
    rows: list[PairRow] = []
    if prefill and decode:
        space = space_of(design_space(scenario, catalog), [], prefill, decode)
        report(0.3)
        rows = _scored(scenario, space, span(report, 0.3, 1.0))
    able = {(row.prefill, row.decode) for row in rows}
    for p in names:
        for d in names:
            if (p, d) not in able:
                why = cannot_prefill.get(p) or cannot_decode.get(d) or _NO_ROOM
                rows.append(_cannot(p, d, why))
    return tuple(sorted(rows, key=_rank))


_NO_ROOM = "one request alone breaks a latency limit, or the decode side has no room for its KV"


def _instances(
    scenario: Scenario, catalog: Catalog, names: Sequence[str], pool: Pool, formats: Sequence[str | None]
) -> tuple[list[Instance], dict[str, str]]:
    """What fits of every accelerator, and for those of which nothing does, why."""
    found: list[Instance] = []
    refused: dict[str, str] = {}
    for name in names:
        limits = []
        for weight_format in formats:
            wanted = weight_format or scenario.model.weight_format
            extra = weight_format != formats[0]
            if extra and compute_unit(catalog.accelerators[name], wanted) == "bf16":
                continue
            for tp, pp in shapes(pool):
                instance = resolve_instance(
                    catalog, scenario, accelerator_id=name, tp=tp, pp=pp, ep=pool.ep,
                    attention_dp=pool.attention_dp, weight_format=weight_format,
                    clock_ratio=pool.clock_ratio,
                )  # fmt: skip
                if isinstance(instance, Infeasible):
                    limits.append(instance.text)
                else:
                    found.append(instance)
        if limits and not any(instance.accelerator.id == name for instance in found):
            refused[name] = limits[-1]
    return found, refused


def _scored(scenario: Scenario, space: Space, report: Report) -> list[PairRow]:
    load = load_of(scenario, None, _CLASSES)
    score = score_disaggregated(space, load, None, ROUGH)
    if score is None or isinstance(score, Infeasible):
        return []
    report(0.7)
    inputs, outputs = float(load.mean_input_tokens.item()), float(load.mean(load.output_tokens).item())
    fits = score.fits[:, :, 0, 0]
    rate_p = np.broadcast_to(score.prefill_rate_per_s, score.fits.shape)[:, :, 0, 0]
    rate_d = np.broadcast_to(score.decode.rate_per_s, score.fits.shape)[:, :, 0, 0]
    names_p = np.array([i.accelerator.id for i in space.prefill])
    names_d = np.array([i.accelerator.id for i in space.decode])
    prices = {
        i.accelerator.id: price_of(i.accelerator, scenario.money).usd_per_hour
        for i in (*space.prefill, *space.decode)
    }
    gpus_p = np.array([float(i.gpus) for i in space.prefill])[:, None]
    gpus_d = np.array([float(i.gpus) for i in space.decode])[None, :]
    known = [price for price in prices.values() if price is not None]
    # Where a price is missing the pair's best parallelism is found at the middle of the known ones.
    middle = float(np.median(known)) if known else 1.0
    shown = {name: middle if price is None else price for name, price in prices.items()}
    usd_p = (
        gpus_p * np.array([shown[n] for n in names_p])[:, None]
        + network_weights(space, space.prefill, True)[:, None]
    )
    usd_d = (
        gpus_d * np.array([shown[n] for n in names_d])[None, :]
        + network_weights(space, space.decode, True)[None, :]
    )
    cost = np.where(fits, usd_p / rate_p + usd_d / rate_d, np.inf)
    chosen: list[tuple[int, int]] = []
    formats_p = np.array([i.weight_format for i in space.prefill])
    for p, weights in dict.fromkeys(zip(names_p, formats_p, strict=True)):
        of_p = (names_p == p) & (formats_p == weights)
        for d in dict.fromkeys(names_d):
            block = np.where(of_p[:, None] & (names_d == d)[None, :], cost, np.inf)
            at = int(np.argmin(block))
            if np.isfinite(block.flat[at]):
                chosen.append((at // block.shape[1], at % block.shape[1]))
    best = min(
        (
            cost[at]
            for at in chosen
            if prices[names_p[at[0]]] is not None and prices[names_d[at[1]]] is not None
        ),
        default=None,
    )
    reasons = role_text(space.catalog, prices)
    rows = []
    for p, d in chosen:
        one, two = space.prefill[p], space.decode[d]
        unpriced = tuple(dict.fromkeys(n for n in (names_p[p], names_d[d]) if prices[n] is None))
        use = gpus_p[p, 0] / rate_p[p, d], gpus_d[0, d] / rate_d[p, d]
        hourly = usd_p[p, 0] / rate_p[p, d], usd_d[0, d] / rate_d[p, d]
        priced = not unpriced
        rows.append(
            PairRow(
                prefill=str(names_p[p]),
                decode=str(names_d[d]),
                prefill_gpus=one.gpus,
                decode_gpus=two.gpus,
                prefill_format=one.weight_format,
                decode_format=two.weight_format,
                usd_per_million_requests=float(sum(hourly)) / SECONDS_PER_HOUR * 1e6 if priced else None,
                gpus_per_request_per_s=float(sum(use)),
                prefill_usd_per_million_tokens=_per_million(hourly[0], inputs, prices[names_p[p]]),
                decode_usd_per_million_tokens=_per_million(hourly[1], outputs, prices[names_d[d]]),
                kv_tokens=float(space.decode_table.kv_tokens[d]),
                unpriced=tuple(str(n) for n in unpriced),
                winning_usd_per_hour=_winning(best, use, hourly, (names_p[p], names_d[d]), unpriced),
                prefill_reason=reasons(str(names_p[p]), "prefill", one.weight_format),
                decode_reason=reasons(str(names_d[d]), "decode", two.weight_format),
                limit="",
            )
        )
    return rows


def _per_million(usd_per_hour_per_rate: float, tokens: float, price: float | None) -> float | None:
    return None if price is None else float(usd_per_hour_per_rate) / SECONDS_PER_HOUR / tokens * 1e6


def _winning(
    best: float | None,
    gpus: tuple[float, float],
    hourly: tuple[float, float],
    names: tuple[str, str],
    unpriced: tuple[str, ...],
) -> float | None:
    """USD per hour of the unpriced accelerator that makes the pair as cheap as the best priced pair; of both
    pools alike where neither has a price. None where the other pool alone already costs more.
    """
    if best is None or not unpriced:
        return None
    missing = [index for index, name in enumerate(names) if name in unpriced]
    left = best - sum(hourly[index] for index in range(2) if index not in missing)
    return float(left / sum(gpus[index] for index in missing)) if left > 0.0 else None


def _cannot(prefill: str, decode: str, why: str) -> PairRow:
    return PairRow(prefill, decode, None, None, "", "", None, None, None, None, None, (), None, "", "", why)


def _rank(row: PairRow) -> tuple[int, float]:
    if row.usd_per_million_requests is not None:
        return 0, row.usd_per_million_requests
    if not row.limit:
        return 1, -(row.winning_usd_per_hour or 0.0)
    return 2, 0.0
