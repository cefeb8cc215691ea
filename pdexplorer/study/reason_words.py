"""The reasons in English: a template by key, and the numbers that fill it in any language."""

from collections.abc import Mapping
from typing import Any

from pdexplorer.study.words import number, percent, seconds

Parameters = Mapping[str, Any]


def reason_text(key: str, parameters: Parameters) -> str:
    """One plain line of at most about twenty words. KeyError for an unknown key."""
    return REASONS[template_key(key, parameters)].format(**reason_values(key, parameters))


def template_key(key: str, p: Parameters) -> str:
    """The template of a reason: some have another one where a number is missing."""
    without = {"colocated_queue": "ttft_limit_s", "kv_transfer": "ttft_fraction"}.get(key)
    return f"{key}_plain" if without and p[without] is None else key


def reason_values(key: str, p: Parameters) -> dict[str, str]:
    """A reason's numbers as they are written, by the names of the templates."""
    return {name: _shown(name, value) for name, value in p.items() if value is not None}


def _shown(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if name.endswith("_fraction"):
        return percent(value)
    if name == "ttft_limit_s":
        return f"{number(value)} s"
    if name.endswith("_s"):
        return seconds(value)
    return number(value / 1e9) if name.endswith("_bytes") else number(value)


REASONS: Mapping[str, str] = {
    "colocated_cannot": "Colocated cannot: {limit_text}.",
    "disaggregated_cannot": "Disaggregated cannot: {limit_text}.",
    "interference": "Interference: {mixed_step_fraction} of colocated steps carry prefill and take "
    "{mixed_s}, not {step_s}; TPOT averages {tpot_mean_s}.",
    "colocated_queue": "Queue: a colocated prompt waits {wait_s}, prefills {service_s}, TTFT P95 is "
    "{ttft_p95_s} (limit {ttft_limit_s}).",
    "colocated_queue_plain": "Queue: a colocated prompt waits {wait_s}, prefills {service_s}, TTFT P95 is "
    "{ttft_p95_s} (no limit).",
    "kv_transfer": "Transfer: {moved_bytes} GB of KV per request, {exposed_p95_s} exposed at P95 ("
    "{ttft_fraction} of TTFT); the link is {link_fraction} busy.",
    "kv_transfer_plain": "Transfer: {moved_bytes} GB of KV per request, {exposed_p95_s} exposed at P95; "
    "the link is {link_fraction} busy.",
    "idle_pools": "Pools: prefill is {prefill_fraction} busy, decode {decode_fraction}; idle time is "
    "{idle_fraction} of the split's cost.",
    "decode_batch": "Batch: a decode instance runs {split_batch} requests in {split_step_s}, a colocated "
    "one {colocated_batch} in {colocated_step_s}.",
    "hardware_price": "Hardware: a split GPU costs {split_usd_per_hour} USD/h on average, a colocated "
    "{colocated_accelerator} {colocated_usd_per_hour} USD/h.",
    "no_tpot_limit": "No TPOT limit: interference breaks nothing, so one pool may batch prefill and decode "
    "freely.",
    "little_prefill": "Little prefill: prompts take {prefill_fraction} of the colocated busy time, so "
    "there is little interference to remove.",
    "parallelism": "Parallelism: GPUs per instance are {prefill_gpus} for prefill and {decode_gpus} for "
    "decode; a colocated instance needs one compromise, {colocated_gpus}.",
}
