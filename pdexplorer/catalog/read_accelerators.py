"""Accelerator records of the catalogue, and how their figures become SI values."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pdexplorer.catalog.figure import Figure
from pdexplorer.catalog.hardware import Accelerator
from pdexplorer.catalog.records import UNPUBLISHED, Table, figures_of, labels_of, records_of
from pdexplorer.units import GB, MIB, TERA

COMPUTE_FIELDS = {
    "bf16": "tflops_bf16_dense",
    "fp8": "tflops_fp8_dense",
    "fp4": "tflops_fp4_dense",
    "int8": "tops_int8_dense",
}
"""Compute format -> field with its dense rate."""

EXPECTED_FIELDS = (
    "memory_gb",
    "memory_bandwidth_gb_per_s",
    *COMPUTE_FIELDS.values(),
    "scale_up_gb_per_s_per_direction",
    "scale_up_domain_devices",
    "pcie_gb_per_s_per_direction",
    "typical_nic_gbit_per_s",
    "tdp_w",
    "rent_usd_per_hour_typical",
    "launch_price_usd",
)
"""Each is a figure, or listed as unpublished, or the rate of an unsupported format."""

OPTIONAL_FIELDS = (
    "driver_memory_mib",
    "measured_matmul_tflops_bf16",
    "measured_matmul_tflops_fp8",
    "rent_usd_per_hour_low",
    "rent_usd_per_hour_high",
    "rent_spot_usd_per_hour",
    "owner_tco_usd_per_hour",
)
ACCELERATOR_FIELDS = EXPECTED_FIELDS + OPTIONAL_FIELDS

LABELS: dict[str, type] = {
    "name": str,
    "vendor": str,
    "family": str,
    "device_class": str,
    "availability": str,
    "memory_type": str,
    "scale_up_link": str,
    "typical_nic": str,
    "notes": str,
    "unsupported_formats": list,
    "unpublished": list,
}


def read_accelerators(file: str, content: Table) -> dict[str, Accelerator]:
    """Accelerators of one parsed file by id. ValueError names file, record and field."""
    found: dict[str, Accelerator] = {}
    for record_id, record, sources in records_of(file, content):
        labels = labels_of(file, record_id, record, LABELS)
        figures = figures_of(file, record_id, record, sources, LABELS, ACCELERATOR_FIELDS)
        unsupported = _unsupported(file, record_id, labels["unsupported_formats"])
        unpublished = _unpublished(file, record_id, labels["unpublished"], figures, unsupported)
        figures |= dict.fromkeys(unpublished, UNPUBLISHED)
        found[record_id] = _accelerator(record_id, labels, figures)
    return found


def with_figures(accelerator: Accelerator, figures: Mapping[str, Figure]) -> Accelerator:
    """The same device with other figures; its SI values follow."""
    return replace(accelerator, figures=figures, **_si_values(figures))


def is_unsupported(accelerator: Accelerator, field: str) -> bool:
    """Whether a field is the rate of a format the chip has no units for."""
    return any(field == rate and form not in accelerator.flop_per_s for form, rate in COMPUTE_FIELDS.items())


def _accelerator(record_id: str, labels: Mapping[str, Any], figures: Mapping[str, Figure]) -> Accelerator:
    notes = " ".join(
        part
        for part in (labels["notes"], f"{labels['availability']}." if labels["availability"] else "")
        if part
    )
    return Accelerator(
        id=record_id,
        name=labels["name"],
        vendor=labels["vendor"],
        family=labels["family"],
        device_class=labels["device_class"],
        notes=notes,
        figures=figures,
        **_si_values(figures),
    )


def _si_values(figures: Mapping[str, Figure]) -> dict[str, Any]:
    def si(field: str, factor: float = 1.0) -> float | None:
        figure = figures.get(field)
        return None if figure is None or figure.value is None else figure.value * factor

    return {
        "memory_bytes": si("memory_gb", GB),
        "usable_memory_bytes": _usable_memory_bytes(figures),
        "memory_byte_per_s": si("memory_bandwidth_gb_per_s", GB),
        "flop_per_s": {form: si(field, TERA) for form, field in COMPUTE_FIELDS.items() if field in figures},
        "scale_up_byte_per_s": si("scale_up_gb_per_s_per_direction", GB),
        "scale_up_gpus": int(si("scale_up_domain_devices") or 1),
        "pcie_byte_per_s": si("pcie_gb_per_s_per_direction", GB),
        "tdp_w": si("tdp_w"),
        "rent_usd_per_hour": si("rent_usd_per_hour_typical"),
        "purchase_usd": si("launch_price_usd"),
        "nic_gbit_per_s": si("typical_nic_gbit_per_s"),
    }


def _usable_memory_bytes(figures: Mapping[str, Figure]) -> float | None:
    """The driver's total, unless a person gave the memory and not the total."""
    memory, driver = figures.get("memory_gb"), figures.get("driver_memory_mib")
    given = memory is not None and memory.kind == "user"
    if driver is None or driver.value is None or (given and driver.kind != "user"):
        return None if memory is None or memory.value is None else memory.value * GB
    return driver.value * MIB


def _unsupported(file: str, record_id: str, formats: list[Any]) -> frozenset[str]:
    for form in formats:
        if form not in COMPUTE_FIELDS:
            allowed = ", ".join(COMPUTE_FIELDS)
            raise ValueError(
                f"{file}: {record_id}.unsupported_formats holds {form!r}; known formats: {allowed}"
            )
    return frozenset(COMPUTE_FIELDS[form] for form in formats)


def _unpublished(
    file: str, record_id: str, names: list[Any], figures: Mapping[str, Figure], unsupported: frozenset[str]
) -> list[str]:
    for field in EXPECTED_FIELDS:
        said = (field in figures) + (field in names) + (field in unsupported)
        if said != 1:
            what = (
                "is missing: give it with a source or list it as unpublished"
                if said == 0
                else "is said twice"
            )
            raise ValueError(f"{file}: {record_id}.{field} {what}")
    for name in names:
        if name not in EXPECTED_FIELDS:
            raise ValueError(f"{file}: {record_id}.unpublished holds {name!r}, which is not a field")
    return names
