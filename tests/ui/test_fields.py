import pytest

from pdexplorer.scenario.keys import keys
from pdexplorer.ui.fields import field_help, log_steps, number_text


def test_log_steps_hold_the_present_value():
    steps = log_steps(100, 1_000_000, 9300.0)
    assert 9300.0 in steps
    assert list(steps) == sorted(steps)
    assert {1000, 8000, 32_000, 64_000, 128_000} - set(steps) == {128_000}


@pytest.mark.parametrize(
    ("value", "shown"), [(4000.0, "4000"), (0.35, "0.35"), (8, "8"), ("auto", "auto"), (None, "")]
)
def test_numbers_read_as_people_type_them(value, shown):
    assert number_text(value) == shown


def test_help_says_what_is_allowed_and_the_key():
    helped = field_help(keys()["slo.ttft_s"])
    assert "86,400" in helped
    assert "none" in helped
    assert "slo.ttft_s" in helped
