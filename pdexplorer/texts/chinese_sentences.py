"""Sentences that come from the model and from readers, as patterns with their Chinese; numbers pass through.

A sentence no pattern knows stays English: better than a wrong translation.
"""

import re
from collections.abc import Mapping

_UNIT = r"([\d.,e+-]+ (?:ms|s))"

PATTERNS: Mapping[str, str] = {
    # whose measured times an answer rests on
    r"not measured on (\S+); taken from (\S+): (.+)": r"\1 无实测，取自 \2：\3",
    r"no serving run of family (\S+) was measured: kernel times as they stand": (
        r"\1 系列无实测服务运行：直接用内核时间"
    ),
    r"(\S+) runs without CUDA graphs: kernel times as they stand": r"\1 不用 CUDA 图：直接用内核时间",
    # limits of a fleet
    r"no instance of the accelerators on offer can hold this model": "可选的加速卡都放不下这个模型",
    rf"one request alone takes {_UNIT} to its first token at P([\d.,]+), over the limit of {_UNIT}: "
    r"no number of instances helps": r"单个请求的首 token 就要 \1(P\2)，超过上限 \3：加实例也无济于事",
    rf"one request alone takes {_UNIT} a token, too close to or over the limit of {_UNIT} at P([\d.,]+): "
    r"no number of instances helps": r"单个请求每 token 就要 \1，接近或超过上限 \2(P\3)：加实例也无济于事",
    rf"one request alone takes longer than the limit of {_UNIT} at P([\d.,]+): no number of instances "
    r"helps": (r"单个请求就超过上限 \1(P\2)：加实例也无济于事"),
    rf"one request alone just holds the limits, (TTFT|TPOT) {_UNIT} of {_UNIT}: beside others it does not": (
        r"单个请求刚好达标，\1 \2(上限 \3)：与其他请求一起就超限"
    ),
    r"the KV cache has no room for requests of ([\d.,]+) tokens beside the weights, or the link cannot carry "
    r"them": r"除去权重后，KV 缓存放不下 \1 token 的请求，或链路传不动",
    r"the link moves the KV of requests of ([\d.,]+) tokens too slowly to hold the limits beside a decode "
    r"pool at work; over a faster one it would do": (
        r"链路传输 \1 token 请求的 KV 太慢，在解码池运行时达不到要求；换更快的链路即可"
    ),
    r"([\d.,]+) instances? carr(?:y|ies) ([\d.,]+) requests/s within the limits, not the ([\d.,]+) asked": (
        r"\1 个实例在要求内只能承载 \2 req/s，达不到 \3 req/s"
    ),
    r"([\d.,]+) instances? carr(?:y|ies) ([\d.,]+) requests in flight within the limits, not the ([\d.,]+) "
    r"asked": (r"\1 个实例在要求内只能承载 \2 个并发请求，达不到 \3 个"),
    r"([\d.,]+) (prefill|decode) instances? carr(?:y|ies) ([\d.,]+) requests/s within the limits, not the "
    r"([\d.,]+) asked": r"\1 个 \2 实例在要求内只能承载 \3 req/s，达不到 \4 req/s",
    r"(\d+) prefill and (\d+) decode instances carry ([\d.,]+) requests/s within the limits, not the "
    r"([\d.,]+) asked": r"\1 个预填充和 \2 个解码实例在要求内只能承载 \3 req/s，达不到 \4 req/s",
    r"(\d+) prefill and (\d+) decode instances do not hold the limits with ([\d.,]+) requests in flight": (
        r"\1 个预填充和 \2 个解码实例在 \3 个并发请求下达不到要求"
    ),
    rf"one request at a time, ([\d.,]+ ?%) of requests reach their first token within {_UNIT}, not "
    r"([\d.,]+ ?%): no number of instances helps": (
        r"逐个请求时也只有 \1 在 \2 内得到首 token，达不到 \3：加实例也无济于事"
    ),
    r"one request at a time, ([\d.,]+ ?%) of requests hold the TTFT limit and ([\d.,]+ ?%) the TPOT "
    r"limit, but only ([\d.,]+ ?%) hold both, not ([\d.,]+ ?%): no number of instances helps": (
        r"逐个请求时，\1 满足 TTFT、\2 满足 TPOT，但两者都满足的只有 \3，达不到 \4：加实例也无济于事"
    ),
    r"\$?([\d.,]+)(?: USD)? an hour does not pay for one instance": r"每小时 \1 USD 不够买一个实例",
    r"([\d.,]+) GPUs? (?:is|are) too few for one instance": r"\1 张卡不够放一个实例",
    r"\$?([\d.,]+)(?: USD)? an hour does not pay for one instance of each pool": (
        r"每小时 \1 USD 不够两个池各买一个实例"
    ),
    r"([\d.,]+) GPUs? (?:is|are) too few for one instance of each pool": r"\1 张卡不够两个池各放一个实例",
    r"no published figure for (\S+) (.+); set .+ yourself": r"\1 的 \2 没有公开数据，请自行填写",
    r"(\S+) has no units for (\S+): its weights compute in bf16": r"\1 没有 \2 计算单元：权重以 bf16 计算",
    r"tp = (\d+) does not divide the (\d+) attention heads of (.+)": r"tp = \1 不能整除 \3 的 \2 个注意力头",
    r"pp = (\d+) exceeds the (\d+) layers of (.+)": r"pp = \1 超过 \3 的 \2 层",
    r"ep = (\d+), but (.+) has no experts": r"ep = \1，但 \2 没有专家",
    r"ep = (\d+) does not divide tp × attention_dp = (\d+)": r"ep = \1 不能整除 tp × attention_dp = \2",
    r"ep = (\d+) exceeds the (\d+) experts": r"ep = \1 超过专家数 \2",
    r"prefill keeps KV in (\S+), decode in (\S+): layouts must match": (
        r"预填充的 KV 为 \1,解码为 \2：格式必须一致"
    ),
    # replays that would take too long
    r"(\S+) = ([\d.,]+): ([\d.,+ ]+) instances in (the \w+ fleet); a replay takes up to ([\d.,]+) a pool, "
    r"about ([\d.,]+) (requests/s|in flight)": (
        r"\1 = \2：{\4}有 \3 个实例；仿真每个池至多 \5 个，约 \6 {\7}"
    ),
    r"requests = ([\d.,]+): about ([\d.,]+) steps through (the \w+ fleet); a replay takes up to ([\d.,]+), "
    r"about ([\d.,]+) requests": r"requests = \1：{\3}约需 \2 步；仿真至多 \4 步，约 \5 个请求",
    r"the colocated fleet": "同构部署",
    r"the disaggregated fleet": "P/D 分离",
    r"requests/s": "req/s",
    r"in flight": "个并发请求",
    # settings that were refused
    r"(\S+) = (.+?): allowed is (.+)": r"\1 = \2：可取 {\3}",
    r"(\S+) = (.+?): no such key(.*)": r"\1 = \2：没有这个键{\3}",
    r"(\S+) = (.+?): no such preset(.*?); see pdexplorer presets": r"\1 = \2：没有这个预设{\3}",
    r"(\S+) = (.+?): stands there more than once; the last one counts": r"\1 = \2：出现多次，以最后一个为准",
    r"(\S+) = (.+?): a file is named in a shell or a scenario file, never in a link": (
        r"\1 = \2：文件只能在命令行或场景文件中指定，不能写在链接里"
    ),
    r"This link was made with model version (\S+); this is (\S+): numbers may differ\.": (
        r"此链接由模型版本 \1 生成，当前为 \2：数值可能不同。"
    ),
    r"The preset (\S+) has changed since this link was made \((\S+), now (\S+)\): numbers the link does not "
    r"spell out may differ\.": r"预设 \1 在此链接生成后已修改（\2，现为 \3）：链接未写明的数值可能不同。",
    # what is allowed
    r" \(close: (.+)\)": r"（相近：\1）",
    r"(.+?)( \(close: .+\))": r"{\1}{\2}",
    r"one of (.+)": r"\1 之一",
    r"the query of a link": "一个链接的查询部分",
    r"true or false": "true 或 false",
    r"ids of the catalogue's (\S+), with commas between them": r"目录 \1 中的 id，以逗号分隔",
    r"an id of the catalogue's (\S+)": r"目录 \1 中的 id",
    r"three capital letters, like USD": "三个大写字母，如 USD",
    r"an integer (.+)": r"整数 {\1}",
    r"a number (.+)": r"数值 {\1}",
    r"above ([\d.,e+]+)(.*)": r"大于 \1{\2}",
    r"from ([\d.,e+-]+)(.*)": r"不小于 \1{\2}",
    r" (?:up to|to) ([\d.,e+]+)(.*)": r"，不大于 \1{\2}",
    r"(.*?), or (auto|none)(.*)": r"{\1}，或 \2{\3}",
    # what a sensitivity moves
    r"memory-bound kernels of (\S+)": r"\1 的访存核",
    r"compute-bound kernels of (\S+)": r"\1 的计算核",
    r"price of (\S+)": r"\1 的价格",
    r"× or ÷ ([\d.]+)": r"× 或 ÷ \1",
    r"± one measured spread": "± 一个实测离散",
    r"± (\d+) points": r"± \1 个百分点",
    # how a batch job is batched
    r"as asked": "原样",
    r"batches of up to (\d+)": r"批大小至多 \1",
    r"rows grouped by prefix": "按前缀分组",
    r"(\d+) length buckets": r"按长度分 \1 组",
    # what a fault costs
    r"([\d.,]+%) of requests miss their limits; attainment ([\d.,]+%) → ([\d.,]+%)\.": (
        r"\1 的请求不再达标；达标率 \2 → \3。"
    ),
    # saving presets
    r"name = (.*): allowed are small letters, digits and underscores, at most 64": (
        r"文件名 \1：只能用小写字母、数字和下划线，最多 64 个"
    ),
    r"name = (.*): taken by a preset of pdexplorer; choose another": r"文件名 \1：与自带预设重名，请换一个",
    r"name = (.*): is there already; choose another or replace it": r"文件名 \1：已存在，请换名或选择替换",
    r"name = (.*): cannot be written \((.*)\)": r"文件名 \1：无法写入（\2）",
    # prices
    r"(\S+): (?:\$|USD )([\d.,]+)/h, published rent": r"\1：\2 USD/h，公开租价",
    r"(\S+): (?:\$|USD )([\d.,]+)/h, published rent; no purchase price is published": (
        r"\1：\2 USD/h，公开租价；没有公开的购置价"
    ),
    r"(\S+): (?:\$|USD )([\d.,]+)/h from (?:\$|USD )([\d.,]+) × \(1 \+ ([\d.]+) host\) over ([\d.]+) years "
    r"at (\d+%); (\d+ W) × ([\d.]+) PUE × (?:\$|USD )([\d.]+)/kWh": (
        r"\1：\2 USD/h，由购置价 \3 USD ×（1 + 主机 \4）、\5 年、可用率 \6 得出；\7 × PUE \8 × \9 USD/kWh"
    ),
    # traces and configs
    r"config\.json: is not JSON \(line (\d+)\)": r"config.json：不是合法 JSON（第 \1 行）",
    r"config\.json: is not JSON \(nested too deeply\)": "config.json：嵌套过深",
    r"the trace is no longer in this session: upload or paste it again": "会话中已没有该 trace：请重新上传或"
    "粘贴",
    r"config\.json: holds no architecture \(no layers\)": "config.json：没有模型结构（没有层数）",
    r"config\.json: must hold an object, not (.+)": r"config.json：必须是一个 JSON 对象，而不是 \1",
}
"""Whole sentences only. A group in braces in the Chinese is itself put into Chinese."""


def in_chinese(words: str) -> str:
    """The sentence in Chinese, or as it is where no pattern matches it."""
    for pattern, chinese in PATTERNS.items():
        match = re.fullmatch(pattern, words)
        if match is not None:
            return _filled(chinese, match)
    return words


def _filled(chinese: str, match: re.Match[str]) -> str:
    """Groups as they are, those in braces in Chinese; nothing in them is read as a pattern."""

    def group(mark: re.Match[str]) -> str:
        nested, bare = mark[1], mark[2]
        return in_chinese(match[int(nested)] or "") if nested else match[int(bare)] or ""

    return re.sub(r"\{\\(\d)\}|\\(\d)", group, chinese)
