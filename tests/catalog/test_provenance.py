"""A page can list every number it rests on with unit, kind and source."""

import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.catalog.provenance import provenance, unit_of


def test_rows_cover_every_figure_once() -> None:
    catalog = load_catalog()
    rows = provenance(catalog, ["h20_96", "roce_400", "vllm", "kimi_k2", "h20_96"])
    expected = sum(
        len(held.figures)
        for held in (catalog.accelerators["h20_96"], catalog.links["roce_400"], catalog.engines["vllm"])
    )
    assert len(rows) == expected + 1
    assert all(row.source and row.kind for row in rows)
    assert rows[-1].id == "kimi_k2"


def test_a_figure_set_by_hand_says_so() -> None:
    catalog = load_catalog().with_overrides({"h20_96": {"rent_usd_per_hour_typical": 1.5}})
    row = next(row for row in provenance(catalog, ["h20_96"]) if row.field == "rent_usd_per_hour_typical")
    assert (row.value, row.unit, row.kind) == (1.5, "$/h", "user")


def test_units_follow_names() -> None:
    assert unit_of("memory_bandwidth_gb_per_s") == "GB/s"
    assert unit_of("memory_gb") == "GB"
    assert unit_of("tops_int8_dense") == "TOP/s"
    assert unit_of("launch_price_usd") == "$"
    assert unit_of("scale_up_domain_devices") == ""


def test_unknown_ids_are_refused() -> None:
    with pytest.raises(ValueError, match="'nobody' is no accelerator"):
        provenance(load_catalog(), ["nobody"])
