"""What the first visitor of a fresh server would wait for, done while the server starts."""

import gc
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pdexplorer.ui.routes import routes


def beside_the_page() -> dict[str, Any]:
    """What the application has besides the page's script: the live addresses, and the warming."""
    return {"routes": routes(), "lifespan": warmed}


@asynccontextmanager
async def warmed(app: Any) -> AsyncIterator[None]:
    """For `st.App(lifespan=...)`: the server answers at once, the warming goes on beside it."""
    threading.Thread(target=warm, name="warm", daemon=True).start()
    yield


def warm() -> None:
    """Starts the processes beside the page and has them answer the question of a bare visit, while it imports
    the page. Streamlit is told not to warn that nobody is looking.
    """
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    # Imported here: it is these imports that take the time.
    from pdexplorer.scenario.link import parse_query
    from pdexplorer.ui import compute

    scenario = parse_query({}, compute.presets()).scenario
    with compute.asked(scenario, with_map=True) as under_way:
        from pdexplorer.ui.page import main  # noqa: F401  the script itself, with all its tabs

        under_way.flips.result()
    # What is there by now stays: looked through again, it would be 0.1 s in which nobody's page moves.
    gc.freeze()
