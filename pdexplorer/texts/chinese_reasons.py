"""A verdict's reasons in Chinese: a template by key; study.reason_words fills it."""

from collections.abc import Mapping

from pdexplorer.study.reason_words import Parameters, reason_values, template_key
from pdexplorer.texts.chinese_sentences import in_chinese


def chinese_reason(key: str, parameters: Parameters) -> str | None:
    """One sentence; None for a reason this file does not know."""
    if key not in CHINESE_REASONS:
        return None
    values = reason_values(key, parameters)
    if "limit_text" in values:
        values["limit_text"] = in_chinese(values["limit_text"])
    return CHINESE_REASONS[template_key(key, parameters)].format(**values)


CHINESE_REASONS: Mapping[str, str] = {
    "colocated_cannot": "同构部署做不到：{limit_text}。",
    "disaggregated_cannot": "P/D 分离做不到：{limit_text}。",
    "interference": "干扰：同构部署中 {mixed_step_fraction} 的步混入预填充，耗时 {mixed_s}，而非 {step_s}；"
    "TPOT 平均 {tpot_mean_s}。",
    "colocated_queue": "排队：同构部署的请求平均等待 {wait_s}、预填充 {service_s}，TTFT P95 为 {ttft_p95_s}"
    "（上限 {ttft_limit_s}）。",
    "colocated_queue_plain": "排队：同构部署的请求平均等待 {wait_s}、预填充 {service_s}，TTFT P95 为 "
    "{ttft_p95_s}（无上限）。",
    "kv_transfer": "传输：每请求 KV {moved_bytes} GB，P95 有 {exposed_p95_s} 未被掩盖（占 TTFT 的 "
    "{ttft_fraction}）；链路占用 {link_fraction}。",
    "kv_transfer_plain": "传输：每请求 KV {moved_bytes} GB，P95 有 {exposed_p95_s} 未被掩盖；链路占用 "
    "{link_fraction}。",
    "idle_pools": "资源池：预填充忙 {prefill_fraction}，解码忙 {decode_fraction}；空闲占 P/D 分离成本"
    "的 {idle_fraction}。",
    "decode_batch": "批大小：解码实例一批 {split_batch} 条、每步 {split_step_s}，同构实例 "
    "{colocated_batch} 条、每步 {colocated_step_s}。",
    "hardware_price": "硬件：P/D 分离平均每卡 {split_usd_per_hour} USD/h，同构的 {colocated_accelerator} 为"
    " {colocated_usd_per_hour} USD/h。",
    "no_tpot_limit": "没有 TPOT 要求：干扰不违反任何限制，一个池即可自由混批。",
    "little_prefill": "预填充很少：只占同构部署忙时的 {prefill_fraction}，可消除的干扰不多。",
    "parallelism": "并行度：预填充用 {prefill_gpus} 卡、解码用 {decode_gpus} 卡；同构实例只能折中为 "
    "{colocated_gpus} 卡。",
}
