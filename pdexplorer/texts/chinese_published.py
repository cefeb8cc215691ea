"""The published results in Chinese, by case: what was reported, and what was corrected since the list was
fixed.
"""

from collections.abc import Mapping

CLAIMS: Mapping[str, str] = {
    "R001": "OPT-13B 聊天（ShareGPT）：90% 达标时每 GPU 速率为 vLLM 的两倍（原文给出 2.0 至 4.6 倍，取低"
    "端）。",
    "R003": "OPT-175B 聊天（ShareGPT），预填充 TP3×PP3、解码 TP4×PP3，对比 vLLM TP8：每 GPU 速率约 3 倍。",
    "R005_vllm": "OPT-66B 长文摘要（LongBench）：速率为 vLLM TP4 的 4.3 倍，或要求严 12.6 倍。",
    "R005_mii": "同样的摘要，对比会切分预填充的 DeepSpeed-MII：速率 1.8 倍，或要求严 2.6 倍。",
    "R012": "A100 提示机加 A100 生成机：同样功耗与成本下，吞吐为混部 A100 的 2.15 倍。",
    "R013": "H100 提示机加 A100 生成机：吞吐为混部 H100 的 1.18 倍，成本低 10%。",
    "R016": "A100 提示机与生成机：吞吐与混部 H100 相同，成本低 25%。",
    "R023_tbt100": "LLaMA3-70B 对话 trace：TBT 上限 100 ms 时，有效请求容量比 vLLM 高 498%。",
    "R023_tbt200": "同上，TBT 上限 200 ms：+157%。",
    "R023_tbt300": "同上，TBT 上限 300 ms：+59%。",
    "R025_tbt100": "合成 trace（输入 15,325、输出 149、66% 可缓存、泊松到达）：TBT 上限 100 ms 时 +62%。",
    "R025_tbt200": "合成 trace，TBT 上限 200 ms：+40%。",
    "R025_tbt300": "合成 trace，TBT 上限 300 ms：+28%。",
    "R037_16k_2k": "Blackwell 上 FP4 的 DeepSeek-R1：分离的最大收益出现在输入 16k、输出 2k。",
    "R037_2k_16k": "输入 2k、输出 16k：大致持平。",
    "R037_1k_32k": "输入 1k、输出 32k：大致持平。",
    "R032": "两台 A10 服务器，4 位 Qwen2.5-7B，输入 8,192、输出 512、1 req/s：1P1D 的输出为两台普通服务器"
    "的 0.95 倍（ITL 低 30%，TTFT P99 为 2.3 倍）。",
    "R033": "各 TP2，输入 2,048、输出 512、4 req/s：输出 0.99 倍，ITL P99 好 15 倍，TTFT 差 3.6 倍。",
    "R061": "单节点 8×H100、vLLM、R1-Distill-Llama-70B FP8，输入 3,000、输出 150：每 GPU token/s +30%。",
    "R064": "GB200 上的 DeepSeek-R1，输入 4,400、输出 1,200，不用 MTP：单用户速度固定时，每 GPU token/s "
    "为 1.4 至 1.8 倍。",
    "R068": "DeepSeek-R1，输入 8k、输出 1k：多节点分离加大规模专家并行，在几乎所有单用户速度下优于单个同"
    "构节点（只有图）。",
    "R078": "聊天，5,000 token 前缀、每轮约 50 个新 token，16×H100 分为 1P + 3D：总是分离时，TTFT 是在解"
    "码处预填充的 2 至 3 倍。",
    "R081_2xtp4": "8×MI300X 上的 Qwen3-235B-A22B-FP8，输入 2,000、输出 1,000、8 req/s：分离时 100 个请求"
    "中 73 个满足两项要求，两个 TP4 实例时 30 个。",
    "R081_tp8": "同上，对比一个 TP8 实例：100 个中 73 对 26。",
    "R093": "H200 上的 GLM-5.1-FP8，输入 32k、输出 512：两三个节点分离后的吞吐约等于一个普通节点。",
    "R097": "两张 L40S 上的 Qwen2.5-7B，输入 1,024、输出 50：1P1D 的 TTFT 与 ITL 都不如 chunked prefill。",
    "R098": "两台各一张 L40 的服务器，随机输入 128、输出 128、并发 50：1P1D 明显落后于两台普通服务器。",
    "U04": "DeepSeek-R1，输入 4k、输出 1.5k、并发 64：两个 TP16 实例的 1P1D 用两倍 GPU，TTFT 远差于一个同"
    "构 TP16。",
    "U08": "8×H100 上的 Llama-70B FP8，输入 3,000、输出 150：单用户约 38 token/s 时，四个 TP1 预填充加一"
    "个 TP4 解码，每 GPU 约 1.6 倍。",
    "U12": "两张 GPU 上的 Qwen3-8B，输入 1,024、输出 6、2 至 8 req/s：1P1D 不如两个 chunked 副本。",
    "U21": "两张 H200 上 Qwen3-Omni 的文本阶段：两个同构副本优于一对；预填充至多占请求 GPU 时间的 2.6%，"
    "其卡利用率仅 10%。",
    "U26_1p3d": "四个 8 卡节点上的 DeepSeek-V2-Lite，输入 4,096、输出 256：四个普通节点吞吐最高；1P3D 的"
    "预填充节点饱和（TTFT 超过 37 s，ITL 好 14 倍）。",
    "U26_2p2d": "输入 512、输出 256 及以上：仍是四个普通节点领先；2P2D 最慢，两个解码节点跟不上。",
    "U31": "NVLink 相连的两张 H100，Llama-3.1-8B，输入 8,000、输出 200、3.6 req/s：1P1D 的 token/s 比两个"
    "副本高约 40%，尾部 ITL 好 8 倍。",
    "U36_example": "A100 上的 13B 模型，输入 512、输出 64，P90 TTFT 0.4 s、TPOT 0.04 s：分离提高每 GPU 有"
    "效吞吐。",
    "U36_code": "代码补全：有效吞吐为同构 vLLM 的 3.2 倍。",
    "U66_tpot10": "规划器，32×H200 上的 Qwen3-32B，输入 4,000、输出 500，TTFT 300 ms、TPOT 10 ms：分离每 "
    "GPU token/s 2.14 倍。",
    "U66_e2e12": "规划器，16×H200 上的 Qwen3-32B，输入 4,000、输出 500，整个请求 12 s 内、TTFT 4 s 内：分"
    "离 1.09 倍。",
    "U66_sglang": "规划器（SGLang），32 张 GPU 上的 Qwen3-32B，TTFT 776 ms、TPOT 19.5 ms：分离 0.89 倍。",
    "U66_vllm": "规划器（vLLM），32×H100 上的 Qwen3-32B，输入 4,000、输出 1,000，TTFT 1 s、TPOT 20 ms：分"
    "离 1.08 倍。",
    "U66_l40s": "规划器（SGLang），8×L40S 上的 Qwen3-32B，输入 4,000、输出 1,000，TTFT 2 s、TPOT 30 ms："
    "分离 0.74 倍。",
}

CHANGES: Mapping[str, str] = {
    "R001": "分离一侧不再使用基线的引擎：论文第 5 节描述了自有的并行执行引擎（8.1K 行 C++/CUDA，含 FlashA"
    "ttention），第 6.1 节只把 vLLM 用作同构基线；这里以今天的 vLLM 参数代替，同构部署仍用 2023 年的引擎"
    "。首 token 改为来自预填充侧：第 1 节写明预填充阶段“generate the first token”，并把 TTFT 定义为“th"
    "e duration of the prefill phase”。",
    "R003": "分离一侧的引擎与首 token 同 OPT-13B（第 1、5 节）。GPU 数为 168，而非试验床的 32：第 1 节按"
    "所用 GPU 定义指标，一对用 21 张，基线用 8 张。",
    "R005_vllm": "分离一侧的引擎与首 token 同 OPT-13B（论文第 1、5 节）。",
    "R005_mii": "首 token 来自预填充侧，同 OPT-13B（论文第 1 节）。",
    "R012": "首 token 改为来自预填充侧：论文第 IV 节写明“the prompt machine generates the first token”。",
    "R013": "首 token 改为来自预填充侧：论文第 IV 节写明“the prompt machine generates the first token”。",
    "R016": "首 token 改为来自预填充侧：论文第 IV 节写明“the prompt machine generates the first token”。",
    "U36_example": "首 token 来自预填充侧，与作者对 TTFT 的定义一致（其论文第 1 节，见 R001）。",
    "U36_code": "分离一侧用的是作者自己的引擎（论文第 5 节，见 R001）：以今天的 vLLM 参数代替，只有同构部"
    "署用 2023 年的引擎。首 token 来自预填充侧（第 1 节）。",
}
