"""What misses among the published results come down to, in Chinese, by their key."""

from collections.abc import Mapping

CAUSES: Mapping[str, str] = {
    "R005_mii": "目录中没有 DeepSpeed-MII 的引擎参数；以今天的 vLLM（chunked prefill）代替，它比当时实测的"
    "基线更好。解码池受 KV 显存限制。",
    "R081": "来源只跑了 100 个请求，到达仅持续十二秒：不是稳态；稳态下每个解码实例 64 个序列承载不到 2 "
    "req/s。其要求是 token 之间的间隔，场景无法表述；名单把它放在 TPOT 上，而干扰在 TPOT 中被平均掉了。",
    "U31": "在此负载下两种部署都能服务全部请求，因此谁也不会有更多 token/s。同一作者的下一次测试（LMCache "
    "pull request 528）在相同到达下 TPOT 为 12 ms 对 20 ms：提升的是每个用户的速度，而这里比较的是吞吐。",
    "U66": "这是另一个规划器的预测，不是实测。它对 P/D 分离的预填充打 82 折（0.9 / 1.1）、解码打 85 折（"
    "0.92 / 1.08），对同构部署不打折：去掉后其 0.89 至 1.09 的比值约为 1.1 至 1.3。",
    "U66_l40s": "另一个规划器的预测，对 P/D 分离同样打 82 至 85 折；其同构部署每 GPU 95 token/s，我们的低三"
    "分之一。此卡经 PCIe 的集合通信没有实测。",
}
