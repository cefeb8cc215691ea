"""Single measured all-reduces: what collectives between many GPUs of a node are fitted to."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from pdexplorer.catalog.aliases import resolve_accelerator
from pdexplorer.catalog.catalog import Catalog
from pdexplorer.catalog.efficiency import CollectiveEfficiency
from pdexplorer.physics.collectives import reduce_plan
from pdexplorer.physics.kernels import reduce_s


@dataclass(frozen=True, slots=True)
class ReducePoint:
    """One all-reduce of `payload_bytes` over `gpus` of one node."""

    accelerator: str
    gpus: int
    payload_bytes: float
    seconds: float


def read_reduce_points(path: str | Path) -> list[ReducePoint]:
    """The all-reduce rows of a table laid out as catalog/efficiency.csv."""
    with Path(path).open(newline="", encoding="utf-8") as handle:
        rows = [row for row in csv.DictReader(handle) if row["category"] == "allreduce"]
    points = []
    for row in rows:
        payload = re.search(r"\((\d+) B\)", row["model"])
        if payload and row["unit"] == "us":
            chip = resolve_accelerator(row["hardware"])
            points.append(
                ReducePoint(
                    chip, int(row["num_devices"]), float(payload.group(1)), float(row["value"]) * 1e-6
                )
            )
    return points


def reduce_point_s(entry: CollectiveEfficiency, point: ReducePoint, catalog: Catalog) -> float:
    """Predicted seconds of one all-reduce."""
    chip = catalog.accelerators[point.accelerator]
    link = chip.scale_up_byte_per_s or chip.pcie_byte_per_s or 1.0
    plan = reduce_plan(entry, 1.0, point.gpus, point.payload_bytes, link)
    return 0.0 if plan is None else float(reduce_s(plan, 1.0))
