import pytest

from pdexplorer.export.drawing import Drawer
from pdexplorer.export.report import report_of
from pdexplorer.scenario.presets import Preset, load_presets
from pdexplorer.scenario.settings import apply_settings

HOSTILE = '</script><img src=x onerror=alert(1)> | [a](javascript:alert(1)) `code` "quoted" & *bold*'


@pytest.fixture(scope="session")
def presets():
    return load_presets()


@pytest.fixture(scope="session")
def preset(presets):
    return presets["rag_h100"]


@pytest.fixture(scope="session")
def report(preset):
    link = "http://127.0.0.1:8501/?preset=rag_h100"
    return report_of(preset.scenario, preset, link=link)


@pytest.fixture(scope="session")
def chinese(report, preset):
    """The same answer, told in Chinese, over a baseline that is not fair."""
    scenario, _ = apply_settings(preset.scenario, {"engine.chunking": "unchunked"})
    return report_of(scenario, preset, link=report.link, language="zh")


@pytest.fixture(scope="session")
def hostile(report, preset):
    """The same answer under a title and a reason someone else has written."""
    named = Preset("team", HOSTILE, HOSTILE, preset.scenario, preset.settings, preset.hash)
    return report_of(preset.scenario, named, evaluation=report.evaluation, notes=(HOSTILE,))


@pytest.fixture(scope="session")
def nothing(presets):
    """A scenario where a figure nobody published keeps both fleets from being sized."""
    return report_of(presets["ascend_910b"].scenario, presets["ascend_910b"])


@pytest.fixture(scope="session")
def drawer():
    one = Drawer()
    yield one
    one.close()
