import http.server
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The page served on this machine, as `streamlit run app.py` serves it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(server, f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    """A fresh visitor at 1280 × 800."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    visitor = context.new_page()
    visitor.set_default_timeout(30_000)
    yield visitor
    context.close()


@pytest.fixture
def foreign_page():
    """A page of another site on this machine: a function of its HTML that gives its address."""
    held = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(held[0])

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def show(html):
        held[:] = [html.encode()]
        return f"http://localhost:{server.server_port}/"

    yield show
    server.shutdown()


def _wait(server: "subprocess.Popen[bytes]", health: str) -> None:
    for _ in range(200):
        if server.poll() is not None:
            raise RuntimeError("the page's server stopped before it answered")
        try:
            with urllib.request.urlopen(health, timeout=1) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise RuntimeError("the page's server did not answer within 40 s")
