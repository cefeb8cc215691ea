"""Rooms import only rooms to their left; each third party stays where it belongs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.import_rules import PACKAGE, broken_rules, modules

FOLDER = Path(__file__).resolve().parents[1] / PACKAGE
STDLIB = frozenset({*sys.stdlib_module_names, "_typeshed"})  # the last exists for type checkers only


def test_every_import_points_left() -> None:
    found = [
        problem
        for path, module in modules(FOLDER)
        for problem in broken_rules(path.read_text(encoding="utf-8"), module, STDLIB)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("pdexplorer.catalog.x", "from pdexplorer.scenario.scenario import Scenario"),
        ("pdexplorer.steady.x", "import pdexplorer.simulator.run"),
        ("pdexplorer.simulator.x", "from ..steady import capacity"),
        ("pdexplorer.simulator.x", "from .. import steady"),
        ("pdexplorer.physics.x", "def f():\n    from pdexplorer import metrics"),
        ("pdexplorer.units", "from pdexplorer.catalog.catalog import load_catalog"),
        ("pdexplorer.ui.x", "from pdexplorer.cli.main import main"),
        ("pdexplorer.cli.runs", "from pdexplorer.ui.page import draw"),
        ("pdexplorer.study.x", "import streamlit as st"),
        ("pdexplorer.ui.x", "import altair"),
        ("pdexplorer.steady.x", "import simpy"),
        ("pdexplorer.physics.x", "from pydantic import BaseModel"),
        ("pdexplorer.workload.x", "import pandas as pd"),
        ("pdexplorer.metrics.x", "import scipy.stats"),
        ("pdexplorer.metrics.x", "importlib.import_module('pdexplorer.ui.page')"),
        ("pdexplorer.metrics.x", "from pdexplorer.wing import feather"),
        ("pdexplorer.wing.x", "from pdexplorer.units import GB"),
    ],
)
def test_forbidden_imports_are_found(module: str, source: str) -> None:
    assert len(broken_rules(source, module, STDLIB)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("pdexplorer.study.x", "import pandas as pd\nfrom pdexplorer.metrics.outcome import Outcome"),
        ("pdexplorer.cli.main", "from pdexplorer.ui.launch import launch"),
        ("pdexplorer.__main__", "from pdexplorer.cli.main import main"),
        ("pdexplorer.cli.main", "from pdexplorer.cli.runs import evaluate"),
        ("pdexplorer.simulator.x", "import simpy\nfrom pdexplorer import MODEL_VERSION"),
        ("pdexplorer.catalog.x", "from .figure import Figure"),
    ],
)
def test_allowed_imports_pass(module: str, source: str) -> None:
    assert broken_rules(source, module, STDLIB) == []


def test_evaluate_starts_without_the_page_and_the_tables() -> None:
    code = (
        "import sys\n"
        "from pdexplorer.cli.main import main\n"
        "status = main(['evaluate', 'short_chat_h100', '--json'])\n"
        "heavy = {'streamlit', 'altair', 'pandas', 'simpy'} & set(sys.modules)\n"
        "print(status, sorted(heavy), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr.strip() == "0 []"
