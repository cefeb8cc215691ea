"""A visitor without a browser: speaks the page's own websocket protocol and changes one input at a time."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

_LARGEST = 64 * 2**20
VERDICT, CHARTS = "#### ", 2


@dataclass
class Seen:
    """One answer: seconds from the question to the verdict's sentence, to the last element, to its end."""

    verdict_s: float = float("nan")
    drawn_s: float = float("nan")
    done_s: float = float("nan")
    received_bytes: int = 0
    errors: list[str] = field(default_factory=list)


class Visitor:
    """One open page. Keeps widgets' ids as the server names them, and messages it may refer back to."""

    def __init__(self, socket: ClientConnection, query: Mapping[str, str]) -> None:
        self._socket = socket
        self._query = urlencode(query)
        self._ids: dict[str, str] = {}
        self._kept: dict[str, ForwardMsg] = {}

    async def open(self) -> Seen:
        """The first run of the page."""
        return await self._ask(BackMsg())

    async def set_number(self, key: str, value: float) -> Seen:
        """Types a number into the input of that key."""
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.double_value = self._ids[key], value
        return await self._ask(message)

    async def _ask(self, message: BackMsg) -> Seen:
        message.rerun_script.query_string = self._query
        message.rerun_script.context_info.timezone = "UTC"
        message.rerun_script.context_info.locale = "en"
        message.rerun_script.context_info.url = "http://127.0.0.1/"
        asked, seen = time.perf_counter(), Seen()
        await self._socket.send(message.SerializeToString())
        while True:
            raw = await asyncio.wait_for(self._socket.recv(), 60)
            now = time.perf_counter() - asked
            seen.received_bytes += len(raw)
            found = ForwardMsg()
            found.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            for one in found.messages.messages if found.WhichOneof("type") == "messages" else [found]:
                if self._take(one, seen, now):
                    return seen

    def _take(self, one: ForwardMsg, seen: Seen, now: float) -> bool:
        kind: Any = one.WhichOneof("type")
        if kind == "ref_hash":
            one = self._kept[one.ref_hash]
            kind = one.WhichOneof("type")
        elif one.hash:
            self._kept[one.hash] = one
        if kind == "page_info_changed":
            self._query = one.page_info_changed.query_string
        if kind == "delta" and one.delta.WhichOneof("type") == "new_element":
            seen.drawn_s = now
            self._element(one.delta.new_element, seen, now)
        if kind == "script_finished":
            seen.done_s = now
            return one.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        return False

    def _element(self, element: Any, seen: Seen, now: float) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            seen.errors.append(element.exception.message)
        if kind == "markdown" and element.markdown.body.startswith(VERDICT):
            seen.verdict_s = now
        if kind == "number_input":
            identifier = element.number_input.id
            self._ids[identifier.rpartition("-")[2]] = identifier


async def visit(port: int, query: Mapping[str, str]) -> Visitor:
    """Connects; the first run is `open`'s."""
    socket = await connect(
        f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=_LARGEST,  # type: ignore[list-item]
        compression=None, ping_interval=None,
    )  # fmt: skip
    return Visitor(socket, query)
