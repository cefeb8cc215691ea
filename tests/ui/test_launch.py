import tomllib
from pathlib import Path

from pdexplorer.ui.launch import PAGE, SETTINGS, flags

ROOT = Path(__file__).parents[2]


def test_launcher_and_config_file_say_the_same():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    found = {}

    def walk(table, prefix=""):
        for key, value in table.items():
            if isinstance(value, dict):
                walk(value, f"{prefix}{key}.")
            else:
                found[f"{prefix}{key}"] = str(value).lower() if isinstance(value, bool) else str(value)

    walk(config)
    assert found == dict(SETTINGS)


def test_the_page_is_only_shown_to_this_machine_unless_told():
    assert dict(SETTINGS)["server.address"] == "127.0.0.1"
    assert dict(SETTINGS)["browser.gatherUsageStats"] == "false"


def test_the_page_travels_with_the_package():
    assert PAGE.is_file()
    assert flags()[:2] == ["--server.address", "127.0.0.1"]


def test_app_py_is_thin():
    lines = [line for line in (ROOT / "app.py").read_text().splitlines() if line.strip()]
    assert len(lines) <= 5
