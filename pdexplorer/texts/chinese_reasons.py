"""A verdict's reasons in Chinese, each from its key and its numbers."""

from collections.abc import Callable, Mapping
from typing import Any

from pdexplorer.texts.chinese_sentences import in_chinese
from pdexplorer.texts.formats import money_per_hour, number, percent, seconds_text

Parameters = Mapping[str, Any]

FLEETS = {"colocated": "同构部署", "disaggregated": "P/D 分离"}


def chinese_reason(key: str, parameters: Parameters) -> str | None:
    """One sentence; None for a reason this file does not know."""
    say = REASONS.get(key)
    return None if say is None else say(parameters)


def _cannot(p: Parameters) -> str:
    return f"{FLEETS[str(p['fleet'])]}做不到：{in_chinese(str(p['limit_text']))}。"


def _interference(p: Parameters) -> str:
    return (
        f"干扰：同构部署中 {percent(p['mixed_step_fraction'])} 的步混入预填充，耗时 "
        f"{seconds_text(p['mixed_s'])}，而非 {seconds_text(p['step_s'])}；TPOT 平均 "
        f"{seconds_text(p['tpot_mean_s'])}。"
    )


def _queue(p: Parameters) -> str:
    limit = p["ttft_limit_s"]
    held = "无上限" if limit is None else f"上限 {number(limit)} s"
    return (
        f"排队：同构部署的请求平均等待 {seconds_text(p['wait_s'])}、预填充 {seconds_text(p['service_s'])}，"
        f"TTFT P95 为 {seconds_text(p['ttft_p95_s'])}（{held}）。"
    )


def _transfer(p: Parameters) -> str:
    share = p["ttft_fraction"]
    of = "" if share is None else f"（占 TTFT 的 {percent(share)}）"
    return (
        f"传输：每请求 KV {number(p['moved_bytes'] / 1e9)} GB，P95 有 {seconds_text(p['exposed_p95_s'])} "
        f"未被掩盖{of}；链路占用 {percent(p['link_fraction'])}。"
    )


def _idle(p: Parameters) -> str:
    return (
        f"资源池：Prefill 忙 {percent(p['prefill_fraction'])}，Decode 忙 {percent(p['decode_fraction'])}；"
        f"空闲占 P/D 分离成本的 {percent(p['idle_fraction'])}。"
    )


def _batch(p: Parameters) -> str:
    return (
        f"批大小：Decode 实例一批 {number(p['split_batch'])} 条、每步 {seconds_text(p['split_step_s'])}，"
        f"同构实例 {number(p['colocated_batch'])} 条、每步 {seconds_text(p['colocated_step_s'])}。"
    )


def _hardware_price(p: Parameters) -> str:
    return (
        f"硬件：P/D 分离平均每卡 {money_per_hour(p['split_usd_per_hour'])} USD/h，"
        f"同构的 {p['colocated_accelerator']} 为 {money_per_hour(p['colocated_usd_per_hour'])} USD/h。"
    )


def _no_limit(p: Parameters) -> str:
    return "没有 TPOT 要求：干扰不违反任何限制，一个池即可自由混批。"


def _little_prefill(p: Parameters) -> str:
    return f"预填充很少：只占同构部署忙时的 {percent(p['prefill_fraction'])}，可消除的干扰不多。"


def _parallelism(p: Parameters) -> str:
    return (
        f"并行度：Prefill 用 {p['prefill_gpus']} 卡、Decode 用 {p['decode_gpus']} 卡；"
        f"同构实例只能折中为 {p['colocated_gpus']} 卡。"
    )


REASONS: Mapping[str, Callable[[Parameters], str]] = {
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
