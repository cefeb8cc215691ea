import pytest

from pdexplorer.steady.sizing import nodes_for_tokens, whole_instances


def test_deepseeks_published_fleet() -> None:
    """608e9 input tokens a day at 73,700 tok/s a node, cache hits included; 168e9 output tokens at 14,800."""
    assert nodes_for_tokens(608e9, 73_700) == pytest.approx(95.5, abs=0.05)
    assert nodes_for_tokens(168e9, 14_800) == pytest.approx(131.4, abs=0.05)


def test_whole_instances_round_up_at_the_peak() -> None:
    assert whole_instances(4.0, 1.0) == 4
    assert whole_instances(4.01, 1.0) == 5
    assert whole_instances(0.01, 1.0) == 1
    with pytest.raises(ValueError, match="must be positive"):
        whole_instances(1.0, 0.0)
