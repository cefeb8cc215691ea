"""Long work beside the page: each piece in a process of its own, so that no visitor waits for another, with
progress and cancel; results are kept by task (scenario, requests, seed, trace) and model version.
"""

import pickle
import subprocess
import threading
import time
from collections import OrderedDict
from typing import Any

import streamlit as st

from pdexplorer import MODEL_VERSION
from pdexplorer.ui.texts import text
from pdexplorer.ui.work.process import started
from pdexplorer.ui.work.replay import Replay
from pdexplorer.ui.work.study import Study

Task = Replay | Study

_KEPT = 24
_AT_ONCE = 2
_POLL_S = 0.5


class Job:
    """One run. share and left_s are as of `told_at`; result (with `done`) or error stand once `finished`."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.share, self.left_s, self.told_at = 0.0, 0.0, time.monotonic()
        self.result: Any = None
        self.done = False
        self.error = ""
        self.cancelled = False

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.done or bool(self.error) or self.cancelled

    def progress(self) -> tuple[float, float]:
        """Share done and seconds left by now, never quite done before the result is there."""
        since = time.monotonic() - self.told_at
        left = max(self.left_s - since, 0.0)
        if self.left_s <= 0.0:
            return self.share, 0.0
        return min(self.share + (1.0 - self.share) * min(since / self.left_s, 1.0), 0.99), left

    def cancel(self) -> None:
        """Ends the run and its process."""
        self.cancelled = True
        if self.process is not None:
            self.process.kill()


class Board:
    """All runs of this server, the latest last."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[tuple[Task, str], Job] = OrderedDict()
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(_AT_ONCE)

    def find(self, wanted: Task) -> Job | None:
        """The run of that question, going on or done; None where there is none or it was cancelled."""
        with self._lock:
            job = self._jobs.get((wanted, MODEL_VERSION))
        return None if job is None or job.cancelled else job

    def cancelled(self, wanted: Task) -> bool:
        """Whether somebody ended that run and nobody has asked for it since."""
        with self._lock:
            job = self._jobs.get((wanted, MODEL_VERSION))
        return job is not None and job.cancelled

    def start(self, wanted: Task, data: Any = None) -> Job:
        """Starts the run unless it is there already."""
        known = self.find(wanted)
        if known is not None and not known.error:
            return known
        job = Job()
        with self._lock:
            self._jobs[(wanted, MODEL_VERSION)] = job
            while len(self._jobs) > _KEPT:
                _, oldest = self._jobs.popitem(last=False)
                oldest.cancel()
        threading.Thread(target=self._run, args=(job, wanted, data), daemon=True).start()
        return job

    def _run(self, job: Job, wanted: Task, data: Any) -> None:
        with self._slots:
            if job.cancelled:
                return
            job.process = started("pdexplorer.ui.work.child")
            try:
                _talk(job, job.process, wanted, data)
            except (EOFError, OSError, pickle.UnpicklingError):
                job.error = job.error or "the work stopped before it was done"
            finally:
                job.process.wait()


def _talk(job: Job, process: "subprocess.Popen[bytes]", wanted: Task, data: Any) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin as question:
        pickle.dump((wanted, data), question)
    with process.stdout as answers:
        while not job.finished:
            message = pickle.load(answers)
            if message[0] == "progress":
                job.share, job.left_s, job.told_at = message[1], message[2], time.monotonic()
            elif message[0] == "done":
                job.result, job.done = message[1], True
            else:
                job.error = str(message[1])


@st.cache_resource(show_spinner=False)
def board() -> Board:
    """The one board of this server."""
    return Board()


@st.fragment(run_every=_POLL_S)
def watch(job: Job, words: str) -> None:
    """Progress with what is left and cancel; redraws only itself, and the page once the work is over."""
    if job.finished:
        st.rerun()
    share, left_s = job.progress()
    if left_s >= 1.0:
        words = f"{words} {text('work.left', seconds=round(left_s))}"
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(share, text=words)
    button.button(text("work.cancel"), key="work.cancel", icon=":material/close:", on_click=job.cancel)
