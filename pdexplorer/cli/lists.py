"""`presets` and `catalog`: what there is, as plain tables."""

import sys
import textwrap
from collections.abc import Iterable, Sequence

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.figure import Figure
from pdexplorer.catalog.hardware import Accelerator, Link
from pdexplorer.export.json_text import json_text
from pdexplorer.scenario.presets import load_presets
from pdexplorer.units import GB, TERA

_GBIT_PER_BYTE = 8 / 1e9


def presets() -> None:
    """Name, title and reason of every preset; broken team files are named on stderr."""
    found = load_presets()
    width = max(map(len, found))
    for preset in found.values():
        print(f"{preset.name:<{width}}  {preset.title}")
        print(textwrap.fill(preset.why, 100, initial_indent="    ", subsequent_indent="    "))
    for problem in found.problems:
        print(f"pdexplorer: left out: {problem}", file=sys.stderr)


def catalog(kind: str | None, *, as_json: bool) -> None:
    """One list of the catalogue, or how much is in each. JSON carries kind and source of every number."""
    known = load_catalog()
    figures = {
        "accelerators": {i: a.figures for i, a in known.accelerators.items()},
        "networks": {i: n.figures for i, n in known.links.items()},
    }
    if as_json:
        models = {
            i: {**m.model_dump(), "source": known.model_sources.get(i, "")} for i, m in known.models.items()
        }
        everything = {**figures, "models": models}
        print(json_text(everything if kind is None else everything[kind]))
    elif kind is None:
        counts = (len(known.accelerators), len(known.models), len(known.links))
        print("{} accelerators, {} models, {} networks".format(*counts))
        print("pdexplorer catalog accelerators|models|networks lists them; --json adds sources")
    elif kind == "accelerators":
        head = ("id", "memory GB", "GB/s", "bf16", "fp8", "fp4", "$/h", "price $", "watts", "name")
        print_table(head, (_accelerator_row(a) for a in known.accelerators.values()), text_columns=(0, 9))
        print("dense TFLOPS. none: has no such units. *: assumed or derived.")
        print("-: nobody published it; set overrides.ID.FIGURE yourself.")
    elif kind == "models":
        model_head = ("id", "layers", "heads", "KV heads", "experts", "params", "max context", "name")
        rows = (
            (
                i,
                f"{m.layers}",
                f"{m.heads}",
                "MLA" if m.attention == "mla" else f"{m.kv_heads}",
                f"{m.experts_per_token}/{m.experts}" if m.experts else "dense",
                f"{m.published_params / 1e9:,.0f}B" if m.published_params else "-",
                f"{m.max_context_tokens:,}" if m.max_context_tokens else "-",
                m.name,
            )
            for i, m in known.models.items()
        )
        print_table(model_head, rows, text_columns=(0, 7))
    else:
        link_head = ("id", "Gbit/s", "one NIC reaches GB/s", "at most GB/s a node", "latency ms", "name")
        links = (
            (
                i,
                f"{n.byte_per_s * _GBIT_PER_BYTE:,.0f}",
                f"{_reached(n) / GB:,.4g}",
                f"{n.node_cap_byte_per_s / GB:,.4g}" if n.node_cap_byte_per_s else "",
                f"{n.latency_s * 1e3:.3g}",
                n.name,
            )
            for i, n in known.links.items()
        )
        print_table(link_head, links, text_columns=(0, 5))


def print_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: Sequence[int] = (0,)
) -> None:
    """Columns padded to their widest cell; numbers to the right, text_columns to the left."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        cells = [
            cell.ljust(width) if i in text_columns else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _accelerator_row(accelerator: Accelerator) -> tuple[str, ...]:
    def cell(field: str, value: float | None) -> str:
        return "-" if value is None else f"{value:,.6g}{_mark(accelerator.figures.get(field))}"

    def scaled(value: float | None, unit: float) -> float | None:
        return None if value is None else value / unit

    def rate(field: str, compute: str) -> str:
        known = accelerator.flop_per_s
        return cell(field, scaled(known[compute], TERA)) if compute in known else "none"

    return (
        accelerator.id,
        cell("memory_gb", scaled(accelerator.memory_bytes, GB)),
        cell("memory_bandwidth_gb_per_s", scaled(accelerator.memory_byte_per_s, GB)),
        rate("tflops_bf16_dense", "bf16"),
        rate("tflops_fp8_dense", "fp8"),
        rate("tflops_fp4_dense", "fp4"),
        cell("rent_usd_per_hour_typical", accelerator.rent_usd_per_hour),
        cell("launch_price_usd", accelerator.purchase_usd),
        cell("tdp_w", accelerator.tdp_w),
        accelerator.name,
    )


def _reached(link: Link) -> float:
    one_nic = link.byte_per_s * link.effective_fraction
    return min(one_nic, link.node_cap_byte_per_s or one_nic)


def _mark(figure: Figure | None) -> str:
    return "*" if figure is not None and figure.kind in ("assumed", "derived") else ""
