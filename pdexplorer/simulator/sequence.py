"""One request while it is in the fleet."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pdexplorer.simulator.link import Flow

WAITING, PREFILLING, DECODING, LEFT = range(4)

NAN = float("nan")


class Sequence:
    """Its lengths, how far it is, and what its record will say; times in seconds, NaN until they happen."""

    __slots__ = (
        "admitted",
        "arrival_s",
        "cached_tokens",
        "cross_iteration",
        "decode_instance",
        "fetched_tokens",
        "finish_iteration",
        "first_token_s",
        "flow",
        "generated",
        "index",
        "input_tokens",
        "join_context",
        "join_iteration",
        "join_s",
        "last_token_s",
        "load",
        "output_tokens",
        "past_tokens",
        "preemptions",
        "prefill_end_s",
        "prefill_instance",
        "prefill_start_s",
        "reserved",
        "retries",
        "slot",
        "spans",
        "state",
        "target_tokens",
        "token_s",
        "transfer_end_s",
        "transfer_start_s",
    )

    admitted: int  # order of admission
    cross_iteration: int  # when its context reaches the window, −1 if it has
    finish_iteration: int
    join_context: int  # tokens its first decode iteration reads
    join_iteration: int
    join_s: float
    slot: int  # phase of its block growth
    spans: list[tuple[str, float, float]]  # (what, start, end), where token_s is kept

    def __init__(
        self, index: int, arrival_s: float, input_tokens: int, cached_tokens: int, output_tokens: int
    ) -> None:
        self.index = index
        self.arrival_s = arrival_s
        self.input_tokens = input_tokens
        self.cached_tokens = cached_tokens
        self.output_tokens = output_tokens
        self.state = WAITING
        self.generated = 0
        self.past_tokens = cached_tokens
        self.fetched_tokens = 0  # of its prompt, brought in from a slower cache
        self.target_tokens = input_tokens
        self.prefill_start_s = NAN
        self.prefill_end_s = NAN
        self.transfer_start_s = NAN
        self.transfer_end_s = NAN
        self.first_token_s = NAN
        self.last_token_s = NAN
        self.prefill_instance = -1
        self.decode_instance = -1
        self.preemptions = 0
        self.retries = 0
        self.reserved = False
        self.load = 0.0  # what the router counts for it
        self.token_s: list[float] | None = None  # time of each token, where asked for
        self.flow: Flow | None = None  # its transfer, where layers stream during prefill


Chunk = tuple[Sequence, int]
"""A sequence and how many of its prompt tokens a step computes."""
