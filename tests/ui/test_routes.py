"""The live addresses, fetched from a started server as a wiki or a script would."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from xml.etree import ElementTree

import pytest

from pdexplorer.export.json_text import json_text
from pdexplorer.export.links import live_address
from pdexplorer.scenario.presets import load_presets
from pdexplorer.scenario.settings import apply_settings
from pdexplorer.study.compare import evaluate
from pdexplorer.study.confidence import with_confidence
from pdexplorer.ui.routes import routes

HOSTILE = '</title><script>alert(1)</script> | "x"'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """`pdexplorer app` from a folder that is not the checkout, with a team's preset of a hostile title."""
    folder = tmp_path_factory.mktemp("team")
    (folder / "odd_title.toml").write_text(f"title = {json.dumps(HOSTILE)}\nwhy = {json.dumps(HOSTILE)}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "pdexplorer", "app", "--port", str(port)],
        cwd=folder,
        env={**os.environ, "PDEXPLORER_PRESETS": str(folder), "STREAMLIT_SERVER_HEADLESS": "true"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        root = f"http://127.0.0.1:{port}/"
        for _ in range(300):
            assert process.poll() is None, "the server stopped before it answered"
            try:
                if get(f"{root}_stcore/health")[2] == b"ok":
                    break
            except OSError:
                time.sleep(0.2)
        yield root
    finally:
        process.terminate()
        process.wait(20)


def get(url, method="GET", headers=None):
    request = urllib.request.Request(url, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


@pytest.fixture(scope="module")
def case():
    preset = load_presets()["rag_h100"]
    return preset, apply_settings(preset.scenario, {"workload.input_tokens": "12000"})[0]


def address(server, route, case, view=""):
    preset, scenario = case
    return live_address(server, route, scenario, preset, view)


def test_the_answer_equals_the_shell_s(server, case):
    status, headers, body = get(address(server, "api/v1/evaluate", case) + "&nonsense=1")
    answer = json.loads(body)
    own = json.loads(json_text(with_confidence(evaluate(case[1])).to_json()))
    assert status == 200
    assert headers["Content-Type"] == "application/json"
    assert {key: answer[key] for key in own} == own
    assert [refusal["key"] for refusal in answer["refused"]] == ["nonsense"]


def test_charts_are_pictures_of_the_case(server, case):
    status, headers, svg = get(address(server, "chart.svg", case, "map"))
    assert status == 200
    assert headers["Content-Type"].startswith("image/svg+xml")
    assert "12,000 in" in " ".join(ElementTree.fromstring(svg).itertext())
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "max-age" in headers["Cache-Control"]
    assert "rag_h100" in headers["Content-Disposition"]
    status, headers, png = get(address(server, "chart.png", case, "cost"))
    assert (status, headers["Content-Type"]) == (200, "image/png")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")


def test_memo_and_page_lead_back_to_this_server(server, case):
    status, headers, memo = get(address(server, "memo.md", case))
    assert status == 200
    assert headers["Content-Type"].startswith("text/markdown")
    assert f"<{server}?preset=rag_h100&workload.input_tokens=12000".encode() in memo
    status, headers, page = get(address(server, "page.html", case))
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert f'href="{server}?preset=rag_h100&amp;'.encode() in page


@pytest.mark.parametrize(
    ("route", "says"),
    [
        ("api/v1/evaluate?preset=nope", b"no such preset"),
        ("chart.svg?view=tornado", b"allowed is one of cost, map"),
        ("chart.svg?preset=ascend_910b", b"no published figure"),
        ("memo.md?x=" + "a" * 17_000, b"allowed are 16,000 characters"),
    ],
)
def test_what_cannot_be_served_is_400_and_one_line(server, route, says):
    status, headers, body = get(server + route)
    assert status == 400
    assert says in body
    assert len(body.strip().splitlines()) == 1
    assert headers["Cache-Control"] == "no-store"


def test_a_file_is_never_read_and_said_to_be_refused(server):
    _, _, body = get(f"{server}api/v1/evaluate?preset=rag_h100&workload.trace_file=/etc/passwd")
    answer = json.loads(body)
    assert answer["refused"][0]["key"] == "workload.trace_file"
    assert answer["scenario"]["workload"]["trace_file"] == ""


@pytest.mark.parametrize("address", ["api/v1/nope", "api/v2/evaluate?preset=rag_h100", "api/"])
def test_an_unknown_address_of_the_api_is_404_and_one_line(server, address):
    status, headers, body = get(server + address)
    assert (status, headers["Content-Type"]) == (404, "application/json")
    assert "/api/v1/evaluate" in json.loads(body)["error"]


def test_only_get_and_no_origin_is_let_in(server):
    assert get(f"{server}api/v1/evaluate", "POST")[0] == 405
    _, headers, _ = get(f"{server}api/v1/evaluate", headers={"Origin": "https://elsewhere.example"})
    assert headers["Access-Control-Allow-Origin"] is None
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_hostile_title_and_host_stay_text(server):
    _, _, page = get(f"{server}page.html?preset=odd_title")
    assert b"<script" not in page
    _, _, memo = get(f"{server}memo.md?preset=odd_title", headers={"Host": "a>(javascript:1)"})
    assert b"javascript" not in memo


def test_the_page_itself_still_stands_there(server):
    status, headers, _ = get(server)
    assert (status, headers["Content-Type"].partition(";")[0]) == (200, "text/html")


def test_addresses_move_with_the_page_s_base_path():
    served = ("/api/v1/evaluate", "/chart.svg", "/chart.png", "/memo.md", "/page.html", "/api/{rest:path}")
    assert {route.path for route in routes("/base/")} == {f"/base{path}" for path in served}
