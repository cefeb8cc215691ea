"""Starts the page from anywhere: `pdexplorer app`, or `python -m pdexplorer.ui.launch`.

The page is found inside the installed package, and its look is passed as flags: Streamlit reads a
config.toml only from the working folder, which is the caller's.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).with_name("page.py")
"""The script a visitor's every change runs."""

SERVED = Path(__file__).with_name("asgi.py")
"""The page with the live addresses beside it, which `streamlit run` recognises as an application."""

SETTINGS: tuple[tuple[str, str], ...] = (
    ("server.address", "127.0.0.1"),  # Streamlit listens on every interface unless told
    ("browser.gatherUsageStats", "false"),
    ("server.fileWatcherType", "none"),
    ("server.maxUploadSize", "64"),
    ("client.toolbarMode", "minimal"),
    # A full collection after every run walks everything cached: half the cost of a change. Python's own
    # collector stays on.
    ("runner.postScriptGC", "false"),
    ("client.showErrorDetails", "none"),
    # Per scheme: a setting of [theme] itself would pin the page to light.
    ("theme.light.primaryColor", "#5b3e96"),
    ("theme.dark.primaryColor", "#a98be0"),
    ("theme.light.paddingTop", "0.5rem"),
    ("theme.dark.paddingTop", "0.5rem"),
    ("theme.light.paddingBottom", "1rem"),
    ("theme.dark.paddingBottom", "1rem"),
)
"""The same settings as `.streamlit/config.toml` of a checkout; a test compares them."""


def launch(port: int | str | None = None, address: str | None = None, more: Sequence[str] = ()) -> int:
    """Runs the server until it is stopped; returns its exit status. more: flags of `streamlit run`, which
    win.
    """
    from streamlit.web import cli as streamlit_cli

    own = {"server.port": port, "server.address": address}
    chosen = [part for key, value in own.items() if value is not None for part in (f"--{key}", str(value))]
    sys.argv = ["streamlit", "run", str(SERVED), *flags(), *chosen, *more]
    try:
        streamlit_cli.main(prog_name="streamlit")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def flags() -> list[str]:
    """The settings as `streamlit run` takes them."""
    return [part for key, value in SETTINGS for part in (f"--{key}", value)]


if __name__ == "__main__":
    sys.exit(launch(more=sys.argv[1:]))
