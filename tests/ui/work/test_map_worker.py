import numpy as np
import pytest

from pdexplorer.scenario.presets import load_presets
from pdexplorer.ui.work.map_worker import MapWorker
from pdexplorer.ui.work.mapped import Mapped, run_map

WANTED = Mapped(
    load_presets()["rag_h100"].scenario.model_dump_json(), (1000.0, 8000.0, 32_000.0), (25.0, 100.0, 400.0)
)


@pytest.fixture(scope="module")
def worker():
    return MapWorker()


def test_the_map_is_the_one_worked_out_here(worker):
    found, here = worker.submit(WANTED).result(60), run_map(WANTED)
    assert np.array_equal(found.gain, here.gain, equal_nan=True)
    assert found.winner.tolist() == here.winner.tolist()


def test_what_cannot_be_mapped_is_said_and_the_next_map_is_drawn(worker):
    with pytest.raises(ValueError, match="Invalid JSON"):
        worker.submit(Mapped("{}?", (1.0,), (1.0,))).result(60)
    assert worker.submit(WANTED).result(60).gain.shape == (3, 3)


def test_a_process_that_was_ended_is_started_again(worker):
    worker.submit(WANTED).result(60)
    worker._process.kill()
    worker._process.wait()
    assert worker.submit(WANTED).result(60).gain.shape == (3, 3)
