"""Where the shared data folder is, for tests that use it; they skip with a reason where it is absent."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_path(relative: str) -> Path:
    """Path of a file under ../shared/data, or skip the calling test."""
    path = SHARED_DATA / relative
    if not path.exists():
        pytest.skip(f"../shared/data/{relative} is not here; this test compares with it")
    return path
