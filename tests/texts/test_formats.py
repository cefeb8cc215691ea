import pytest

from pdexplorer.texts.formats import number, percent, percent_change, seconds_text, tokens_text, with_unit


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (1240, "1,240"), (41.234, "41.2"), (4.126, "4.13"), (0.0412, "0.0412")]
)
def test_three_digits(value, shown):
    assert number(value) == shown


def test_shares_and_changes():
    assert percent(0.25) == "25 %"
    assert percent(0.0312) == "3.1 %"
    assert percent_change(-0.41) == "-41 %"
    assert percent_change(0.3) == "+30 %"


def test_times_carry_their_unit():
    assert seconds_text(0.0441) == "44.1 ms"
    assert seconds_text(1.534) == "1.53 s"


def test_values_with_units():
    assert with_unit(9300, "tokens") == "9,300 tokens"
    assert with_unit(0.97, "") == "97 %"
    assert with_unit(4.2, "/s") == "4.2 req/s"
    assert tokens_text(128_000) == "128k"
    assert tokens_text(4000) == "4,000"
