"""On how many GPUs a row of serving.csv ran: its instances, their parallelism and what they held in flight.

The file was merged from several benchmark dumps that count GPUs differently.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pdexplorer.evidence.serving_fleets import Side

NODE_GPUS = 8
STATED = re.compile(r"silicon_concurrency=(\d+)")
OWN_SWEEPS = "gap-analysis/"
"""In the source of rows its authors measured themselves. The others are InferenceX dumps."""
TRAY_GPUS = 4
WHOLE_FLEET = (
    "tp is the GPU count of a whole split fleet, not of an instance: read as trays of four GPUs each"
)
NO_POOLS = "worker counts or batch sizes are not given: TTFT is not determined"
LOOKED_UP_FLEET = "tp is the GPU count of a whole split fleet: its pools are those of its launch recipe"


@dataclass(frozen=True, slots=True)
class Pool:
    """Equal instances of one side. batch: largest batch of one attention-DP rank, 0 where not given."""

    tp: int
    pp: int
    ep: int
    attention_dp: int
    instances: int
    batch: int

    @property
    def gpus(self) -> int:
        """GPUs of one instance."""
        return self.tp * self.pp * self.attention_dp


def looked_up(side: Side) -> Pool:
    """A side of a recipe."""
    tp, dp = (1, side.gpus) if side.attention_dp else (side.gpus, 1)
    return Pool(tp, 1, side.gpus, dp, side.instances, side.batch)


def read_pool(cells: Mapping[str, str], side: str, notes: list[str]) -> tuple[Pool | None, str]:
    """One side's instance. Products of TP and EP that stand where the GPUs should are taken apart."""
    tp, pp = count(cells, f"{side}tp_size"), max(count(cells, f"{side}pp_size"), 1)
    dp = count(cells, f"{side}attention_dp_size")
    moe_tp, ep = max(count(cells, f"{side}moe_tp_size"), 1), max(count(cells, f"{side}moe_ep_size"), 1)
    workers = count(cells, f"{side}num_workers") if side else 1
    batch = count(cells, f"{side}batch_size")
    if not tp or not workers:
        return None, NO_POOLS if side else "no tp"
    own_sweep = OWN_SWEEPS in cells["silicon_data_source"]
    stated = concurrency_of(None, STATED.search(cells["silicon_data_source"]))
    if own_sweep and not dp and tp > 1 and moe_tp * ep > 1 and batch * tp == stated:
        notes.append(f"batch is per GPU, so attention DP {tp}")
        tp, dp = 1, tp
    elif moe_tp == ep > 1 and tp * max(dp, 1) == moe_tp * ep and not own_sweep:
        # TP n and EP n over the same n GPUs, exported as n × n GPUs.
        notes.append(f"{side}{moe_tp} × {ep} GPUs read as the same {ep}")
        tp, dp, moe_tp = (1, ep, 1) if dp > 1 else (ep, 1, 1)
    elif dp == tp > 1 and moe_tp == 1 and ep == tp * dp and not side:
        # The same launch is exported as attention DP 1 and EP = TP elsewhere in the file.
        notes.append(f"attention DP {dp} × TP {tp} read as TP {tp} with EP {tp}")
        dp, ep = 1, tp
    if not dp:
        dp = max(moe_tp * ep // tp, 1)
    if always_spreads_experts(cells) and ep == 1:
        notes.append(f"launched with expert parallelism all the same: EP {tp}")
        ep = tp
    if not side and dp == 1 and tp > NODE_GPUS and moe_tp == tp:
        # The row does not say how the fleet is split; such rows are scored, never fitted.
        notes.append(WHOLE_FLEET)
        return Pool(TRAY_GPUS, pp, 1, 1, tp // TRAY_GPUS, batch), ""
    return Pool(tp, pp, ep, dp, max(workers, 1), batch), ""


def always_spreads_experts(cells: Mapping[str, str]) -> bool:
    """Whether a run was launched by the first scripts for MiniMax on B200 (InferenceX minimaxm2.5_fp8_b200.sh
    until it ran vLLM 0.19): enable-expert-parallel whatever EP_SIZE, KV as the model has it.
    """
    first = cells["backend"] == "vllm" and cells.get("backend_version", "") == "0.17.0"
    return first and cells["system"] == "b200_sxm" and "minimax" in cells["model_path"].lower()


def concurrency_of(pool: Pool | None, stated: re.Match[str] | None) -> int:
    """Requests in flight: as stated, else what the instance was launched for."""
    if stated:
        return int(stated.group(1))
    return pool.batch * pool.attention_dp if pool is not None else 0


def with_instances(pool: Pool, concurrency: int, cells: Mapping[str, str], notes: list[str]) -> Pool:
    """A fleet-wide concurrency above what one instance's ranks hold means several instances."""
    if OWN_SWEEPS in cells["silicon_data_source"] and cells["backend"] == "vllm" and pool.gpus < NODE_GPUS:
        notes.append(f"{NODE_GPUS // pool.gpus} instances fill the node and share the concurrency")
        return replace(pool, instances=NODE_GPUS // pool.gpus)
    held = pool.batch * pool.attention_dp * pool.instances
    dense = cells["moe_tp_size"] in ("", "0", "1.0", "1", "0.0") and pool.ep == 1
    if not dense or not held or concurrency % held or concurrency <= held:
        return pool
    notes.append(f"{concurrency // held} instances share the concurrency")
    return replace(pool, instances=concurrency // held)


def count(cells: Mapping[str, str], key: str) -> int:
    """A cell as a whole number, 0 where empty; ValueError, one line, for anything else."""
    text = cells.get(key, "")
    if not text:
        return 0
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (0 <= value <= 1e6 and value == int(value)):
        raise ValueError(f"{key} = {text!r} must be a whole number from 0 to 1e6")
    return int(value)
