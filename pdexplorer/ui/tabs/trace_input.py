"""A trace of real requests, uploaded or pasted; a frame in a foreign page can only paste."""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from pdexplorer.texts.formats import number, tokens_text
from pdexplorer.ui.texts import plain, said, text
from pdexplorer.workload.requests import Requests
from pdexplorer.workload.traces import read_trace

MAX_REPLAYED = 20_000
_PASTED_MAX_BYTES = 5_000_000


@dataclass(frozen=True)
class Trace:
    """What the session holds of a trace. digest names its content."""

    digest: str
    requests: int


def trace_input() -> Trace | None:
    """Asks for a trace; None until there is one that can be read."""
    content, name = b"", "trace.csv"
    if not st.context.is_embedded:
        file = st.file_uploader(text("trace.upload"), type=["csv", "jsonl", "json", "txt"], key="trace.file")
        if file is not None:
            content, name = file.getvalue(), file.name
    label = text("trace.paste_only" if st.context.is_embedded else "trace.paste")
    pasted = st.text_area(label, key="trace.text", height=100, max_chars=_PASTED_MAX_BYTES)
    if not content and pasted.strip():
        content, name = pasted.encode(), "pasted.jsonl" if pasted.lstrip().startswith("{") else "pasted.csv"
    if not content:
        return None
    try:
        digest, requests = _hold(content, Path(name).suffix or ".csv", name)
    except ValueError as error:
        st.error(text("trace.bad", why=plain(said(str(error)))), icon=":material/error:")
        return None
    count = len(requests)
    st.caption(
        text(
            "trace.read",
            requests=number(count),
            seconds=number(float(np.ptp(requests.arrival_s)) if requests.timed else 0.0),
            input=tokens_text(round(float(np.mean(requests.input_tokens)))),
            output=tokens_text(round(float(np.mean(requests.output_tokens)))),
        )
    )
    if count > MAX_REPLAYED:
        st.caption(text("trace.limit", requests=number(MAX_REPLAYED)))
    return Trace(digest, count)


def trace_requests(
    digest: str, requests: int, rate_scale: float, arrivals_s: NDArray[np.float64]
) -> Requests:
    """The first requests of the session's trace; its arrivals divided by rate_scale, or arrivals_s (at least
    `requests` of them, already scaled) for a file of lengths only."""
    held = st.session_state.get("trace.held")
    if held is None or held[0] != digest:
        raise ValueError("the trace is no longer in this session: upload or paste it again")
    whole: Requests = held[1]
    timed = (whole.arrival_s[:requests] - whole.arrival_s[0]) / rate_scale
    return Requests(
        arrival_s=timed if whole.timed else arrivals_s[:requests],
        input_tokens=whole.input_tokens[:requests],
        cached_tokens=whole.cached_tokens[:requests],
        output_tokens=whole.output_tokens[:requests],
    )


def _hold(content: bytes, suffix: str, name: str) -> tuple[str, Requests]:
    digest = hashlib.sha256(content).hexdigest()[:16]
    held = st.session_state.get("trace.held")
    if held is None or held[0] != digest:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"trace{suffix}"
            path.write_bytes(content)
            try:
                held = (digest, read_trace(path))
            except ValueError as error:
                raise ValueError(str(error).replace(str(path), name)) from None
        st.session_state["trace.held"] = held
    return held
