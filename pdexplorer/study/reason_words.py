"""The reasons in English, each from its key and its numbers: other languages need only such a file."""

from collections.abc import Callable, Mapping
from typing import Any

from pdexplorer.study.words import number, percent, seconds

Parameters = Mapping[str, Any]


def reason_text(key: str, parameters: Parameters) -> str:
    """One plain line of at most about twenty words. KeyError for an unknown key."""
    return _TEXTS[key](parameters)


def _cannot(p: Parameters) -> str:
    return f"{str(p['fleet']).capitalize()} cannot: {p['limit_text']}."


def _interference(p: Parameters) -> str:
    return (
        f"Interference: {percent(p['mixed_step_fraction'])} of colocated steps carry prefill and take "
        f"{seconds(p['mixed_s'])}, not {seconds(p['step_s'])}; TPOT averages {seconds(p['tpot_mean_s'])}."
    )


def _queue(p: Parameters) -> str:
    limit = p["ttft_limit_s"]
    held = "no limit" if limit is None else f"limit {number(limit)} s"
    return (
        f"Queue: a colocated prompt waits {seconds(p['wait_s'])}, prefills {seconds(p['service_s'])}, "
        f"TTFT P95 is {seconds(p['ttft_p95_s'])} ({held})."
    )


def _transfer(p: Parameters) -> str:
    share = p["ttft_fraction"]
    of = "" if share is None else f" ({percent(share)} of TTFT)"
    return (
        f"Transfer: {number(p['moved_bytes'] / 1e9)} GB of KV per request, {seconds(p['exposed_p95_s'])} "
        f"exposed at P95{of}; the link is {percent(p['link_fraction'])} busy."
    )


def _idle(p: Parameters) -> str:
    return (
        f"Pools: prefill is {percent(p['prefill_fraction'])} busy, decode {percent(p['decode_fraction'])}; "
        f"idle time is {percent(p['idle_fraction'])} of the split's cost."
    )


def _batch(p: Parameters) -> str:
    return (
        f"Batch: a decode instance runs {number(p['split_batch'])} requests in {seconds(p['split_step_s'])}, "
        f"a colocated one {number(p['colocated_batch'])} in {seconds(p['colocated_step_s'])}."
    )


def _hardware_price(p: Parameters) -> str:
    return (
        f"Hardware: a split GPU costs {number(p['split_usd_per_hour'])} USD/h on average, a colocated "
        f"{p['colocated_accelerator']} {number(p['colocated_usd_per_hour'])} USD/h."
    )


def _no_limit(p: Parameters) -> str:
    return "No TPOT limit: interference breaks nothing, so one pool may batch prefill and decode freely."


def _little_prefill(p: Parameters) -> str:
    return (
        f"Little prefill: prompts take {percent(p['prefill_fraction'])} of the colocated busy time, "
        "so there is little interference to remove."
    )


def _parallelism(p: Parameters) -> str:
    return (
        f"Parallelism: prefill runs on {p['prefill_gpus']} GPUs and decode on {p['decode_gpus']}; "
        f"a colocated instance needs one compromise, {p['colocated_gpus']}."
    )


_TEXTS: Mapping[str, Callable[[Parameters], str]] = {
    "colocated_cannot": _cannot,
    "disaggregated_cannot": _cannot,
    "interference": _interference,
    "colocated_queue": _queue,
    "kv_transfer": _transfer,
    "idle_pools": _idle,
    "decode_batch": _batch,
    "hardware_price": _hardware_price,
    "no_tpot_limit": _no_limit,
    "little_prefill": _little_prefill,
    "parallelism": _parallelism,
}
