import pytest

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.metrics.money import price_of
from pdexplorer.scenario.decision_block import Money

ACCELERATORS = load_catalog().accelerators


def test_published_rent_is_used_where_there_is_one() -> None:
    price = price_of(ACCELERATORS["h100_sxm"], Money())
    assert price.usd_per_hour == ACCELERATORS["h100_sxm"].rent_usd_per_hour
    assert price.kind == "published"


def test_purchase_formula_where_rent_is_unpublished() -> None:
    h20 = ACCELERATORS["h20_96"]
    assert h20.rent_usd_per_hour is None
    assert h20.purchase_usd is not None
    assert h20.tdp_w is not None
    expected = h20.purchase_usd * 1.4 / (4 * 8760 * 0.95) + h20.tdp_w / 1000 * 1.3 * 0.10
    price = price_of(h20, Money())
    assert price.usd_per_hour == pytest.approx(expected)
    assert "× (1 + 0.4 host)" in price.text


def test_unknown_watts_cost_nothing_and_say_so() -> None:
    price = price_of(ACCELERATORS["m5_max"], Money())
    assert "watts are unpublished" in price.text
    assert price.usd_per_hour == pytest.approx(ACCELERATORS["m5_max"].purchase_usd * 1.4 / (4 * 8760 * 0.95))  # type: ignore[operator]


def test_a_price_set_by_hand_replaces_all_and_is_assumed() -> None:
    price = price_of(ACCELERATORS["h100_sxm"], Money(usd_per_hour={"h100_sxm": 1.5}))
    assert (price.usd_per_hour, price.kind) == (1.5, "assumed")


def test_no_price_is_none_with_the_key_to_set() -> None:
    price = price_of(ACCELERATORS["rtx_pro_5000_48"], Money())
    assert price.usd_per_hour is None
    assert "money.usd_per_hour.rtx_pro_5000_48" in price.text
