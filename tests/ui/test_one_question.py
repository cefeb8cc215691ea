"""What the page draws bit by bit belongs together: the verdict, what would flip it, and the map."""

import numpy as np
import pyarrow as pa

from pdexplorer.catalog.catalog import load_catalog
from pdexplorer.scenario.link import parse_query
from pdexplorer.scenario.presets import load_presets
from pdexplorer.study.compare import evaluate
from pdexplorer.texts.catalogue import Texts
from pdexplorer.texts.verdict_words import nearest_flips
from pdexplorer.ui import compute
from pdexplorer.ui.texts import plain
from tests.ui.visit import address, change, verdict, visit


def test_verdict_flips_and_map_belong_to_one_question():
    page = visit(preset="rag_h100")
    for tokens in (450.0, 700.0):
        change(page, "workload.output_tokens", tokens)
        scenario = parse_query(
            {key: [value] for key, value in address(page).items()}, load_presets()
        ).scenario
        assert scenario.workload.output_tokens == tokens
        shown = [element.value for element in page.markdown]
        flips = flips_of(scenario)
        assert flips in shown
        assert shown.index(flips) - shown.index(verdict(page)) <= 2
        gain = next(compute.map_of(scenario).steps()).gain
        here = np.where(np.isfinite(gain) & (gain > 0), gain, np.nan).astype(np.float32)
        assert np.array_equal(drawn_gain(page), here.ravel(), equal_nan=True)


def flips_of(scenario):
    stands = compute.standing(scenario, load_catalog())
    found = nearest_flips(Texts("en"), evaluate(scenario).to_json(), stands, plain)
    return " ".join(f"**{head}** {ways}" for head, ways in found)


def drawn_gain(page):
    data = page.get("vega_lite_chart")[1].proto.data.data
    cells = pa.ipc.open_stream(data).read_pandas().query("row == 'cell' or row == 'grey'")
    return cells["gain"].to_numpy(np.float32)
