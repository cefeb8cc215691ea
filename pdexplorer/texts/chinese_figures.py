"""Chinese names of the catalogue's figures, without their units."""

from collections.abc import Mapping

FIGURES: Mapping[str, str] = {
    "memory_gb": "显存",
    "driver_memory_mib": "驱动报告的显存",
    "memory_bandwidth_gb_per_s": "显存带宽",
    "tflops_bf16_dense": "bf16 稠密 TFLOPS",
    "tflops_fp8_dense": "fp8 稠密 TFLOPS",
    "tflops_fp4_dense": "fp4 稠密 TFLOPS",
    "tops_int8_dense": "int8 稠密 TOPS",
    "scale_up_gb_per_s_per_direction": "卡间互连带宽",
    "scale_up_domain_devices": "互连域卡数",
    "tdp_w": "功耗",
    "typical_nic_gbit_per_s": "常配网卡速率",
    "pcie_gb_per_s_per_direction": "PCIe 带宽",
    "rent_usd_per_hour_typical": "常见租价（USD/h）",
    "rent_usd_per_hour_low": "低租价（USD/h）",
    "rent_usd_per_hour_high": "高租价（USD/h）",
    "rent_spot_usd_per_hour": "竞价租价",
    "owner_tco_usd_per_hour": "自有总成本",
    "launch_price_usd": "上市价",
    "measured_matmul_tflops_bf16": "实测 bf16 矩阵乘 TFLOPS",
    "measured_matmul_tflops_fp8": "实测 fp8 矩阵乘 TFLOPS",
    "line_rate_gbit_per_s": "线速",
    "effective_fraction": "有效比例",
    "transfer_setup_ms": "传输建立时间",
    "base_latency_us": "基础延迟",
    "node_cap_gb_per_s": "节点上限",
    "step_overhead_ms": "每步开销",
    "request_overhead_ms": "每请求开销",
    "layer_overhead_us": "每层开销",
}
