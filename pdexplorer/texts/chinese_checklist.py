"""The operator's checklist in Chinese, by key: question and usual answer."""

from collections.abc import Mapping

CHECKLIST: Mapping[str, tuple[str, str]] = {
    "prefill_dies": (
        "Prefill 实例挂了，谁来重试？",
        "由路由层重试：在该实例上排队或传了一半的请求，在别处重新预填充。",
    ),
    "decode_dies": (
        "Decode 实例挂了，谁接手它的流？",
        "另一个 Decode 实例，先对提示词与已生成 token 重新预填充，除非 KV 有副本。",
    ),
    "transfer_fails": ("传输失败怎么办？", "重传一次，再失败则在 Decode 侧重算；要校验 KV 是否完整。"),
    "link_jitter": ("链路抖动或变慢会怎样？", "直接进入 TTFT；RDMA 退回 TCP 就是这种现象，而且没有报错。"),
    "scheduler": ("调度器是单点吗？", "部署两个，或让实例可绕过它接收请求；它不在时请求只能等。"),
    "drain": ("如何排空一个实例？", "Prefill 停止接收，数秒内清空；Decode 的流需数分钟跑完，或迁移。"),
    "migration": (
        "流能在 Decode 实例之间迁移吗？",
        "需要 Decode 之间能传 KV，每 token 成本与来自 Prefill 时相同。",
    ),
    "replication": ("KV 有副本吗？", "很少有：会使解码显存翻倍或需要存储；重算提示词往往更便宜。"),
    "eviction": ("谁在何时淘汰 KV？", "Prefill 保留到传输结束；存储需要规定容量、时限和负责人。"),
    "metadata": (
        "路由、Prefill 与 Decode 对块的位置认识一致吗？",
        "每次淘汰或宕机后元数据都会过期：未命中必须重算，绝不能读错 KV。",
    ),
    "upgrade": (
        "模型或引擎升级时 KV 怎么办？",
        "版本、格式或块大小不同的 KV 不可用：两个池一起升级，并清空存储。",
    ),
    "ratio_drift": (
        "流量变化时谁调整 P:D 配比？",
        "没有控制器时，一个池空闲而另一个排队；实例切换角色需要数分钟。",
    ),
}
