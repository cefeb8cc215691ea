"""Whose measured times the predictions of a scored file rest on, accelerator by accelerator."""

from collections.abc import Iterable

from pdexplorer.catalog.aliases import resolve_accelerator
from pdexplorer.catalog.catalog import Catalog, load_catalog
from pdexplorer.catalog.efficiency import load_efficiencies
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.evidence.scored import TPOT, ScoredFile
from pdexplorer.physics.serving import load_serving_ratios

_OLD_ENGINE = "splitwise"
"""The layout whose engine ran without CUDA graphs, which serving ratios say nothing of."""

_POWER_CAPPED = "-pcap"
"""What that layout calls a chip under a power cap by, behind its name."""


def numbers_used(scored: ScoredFile, catalog: Catalog | None = None) -> list[str]:
    """A line on kernel numbers and, where rows are of served requests, one on serving ratios."""
    accelerators = (catalog or load_catalog()).accelerators
    named = {row.labels["system"] for row in scored.rows if any(row.predicted_ms.values())}
    chips = {resolve_accelerator(name.removesuffix(_POWER_CAPPED)) for name in named}
    devices = [accelerators[name] for name in sorted(chips)]
    if not devices:
        return []
    lines = [f"kernel numbers: {_grouped((_kernels(device), device.id) for device in devices)}"]
    if scored.layout != _OLD_ENGINE and any(TPOT in row.measured_ms for row in scored.rows):
        lines.append(f"serving ratios: {_grouped((_serving(device), device.id) for device in devices)}")
    return lines


def _kernels(device: Accelerator) -> str:
    fits = [entry.fit for entry in load_efficiencies()["gemm"]]
    if own := {fit.kind for fit in fits if fit.accelerator == device.id}:
        return "its own for" if "fitted" in own else "read off published figures for"
    if any(fit.family == device.family for fit in fits):
        return f"inherited in family {device.family} for"
    return "all chips' for"


def _serving(device: Accelerator) -> str:
    if load_serving_ratios().know(device):
        return f"family {device.family}'s for"
    return "none, kernel times as they stand, for"


def _grouped(pairs: Iterable[tuple[str, str]]) -> str:
    groups: dict[str, list[str]] = {}
    for words, name in pairs:
        groups.setdefault(words, []).append(name)
    return "; ".join(f"{words} {', '.join(names)}" for words, names in groups.items())
