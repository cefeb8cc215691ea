"""Step times of several instances on grids, so that a whole map needs a few calls of the physics.

A step's time is a sum over operator groups, so three small tables hold it: decode-only steps over (batch,
context), what prefill tokens add over (tokens, batch), and what a past adds over (tokens, past).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
StepFunction = Callable[..., Any]
"""physics.step.step_time_s or a stand-in with its arguments."""

_PAST_NODES = np.array([0.0, 128, 512, 1024, 2048, 4096, 8192, 32768, 131072, 1048576])
_CONTEXT_NODES = np.array([1.0, 128, 512, 1024, 2048, 4096, 8192, 32768, 131072, 1048576])
_PROMPT_NODES = np.unique(np.rint(np.concatenate(([1.0, 4, 8], 2.0 ** np.arange(4, 18.01, 1 / 3)))))


@dataclass(frozen=True, eq=False)
class StepTable:
    """Seconds. Shapes: decode_s (instances, batch, context); added_s (instances, tokens, batch + 1), its
    first column without any decode, prompt tokens spread evenly over the attention ranks; lone_s the
    same with all of them on one rank; past_s (instances, tokens, past). kv_tokens, gpus, ranks,
    held_share, overheads_s: (instances,); all instances of one role run one engine, so share their overhead.
    """

    batch_nodes: Array
    context_nodes: Array
    prompt_nodes: Array
    past_nodes: Array
    decode_s: Array
    added_s: Array
    lone_s: Array
    past_s: Array
    kv_tokens: Array
    gpus: Array
    ranks: Array
    held_share: Array
    overheads_s: Array

    @property
    def request_overhead_s(self) -> float:
        """What a request costs besides its steps."""
        return float(self.overheads_s[0]) if len(self.overheads_s) else 0.0

    @property
    def every(self) -> Rows:
        """All instances, along the first axis of designs."""
        return np.arange(len(self.gpus))[:, None, None, None]

    def decode_at(self, context_tokens: Array, rows: Rows) -> Array:
        """Decode-only step time on the batch grid at contexts (y, x): (batch, ...), of the instances in rows.

        rows: indices of instances, of any shape that broadcasts with cells to four axes.
        """
        at, part = locate(self.context_nodes, context_tokens)
        table = np.moveaxis(self.decode_s, 2, 0)  # context, instances, batch
        value = _blend(table[at, rows], table[at + 1, rows], part[..., None])
        return np.ascontiguousarray(np.moveaxis(value, -1, 0))

    def past_at(self, middle_tokens: Array, rows: Rows) -> Array:
        """What their past adds to a step of each token count: (tokens, ...), of the instances in rows.

        middle_tokens (y, x) is the mean position of a prompt token; a rank's share of c tokens starts c / 2
        earlier. That holds for chunks of one prompt and for several short prompts packed into a step alike.
        """
        count = self.prompt_nodes[:, None, None, None, None] / self.ranks[rows]
        at, part = locate(self.past_nodes, middle_tokens - 0.5 * count)
        tokens = np.arange(len(self.prompt_nodes))[:, None, None, None, None]
        low, high = self.past_s[rows, tokens, at], self.past_s[rows, tokens, at + 1]
        return np.ascontiguousarray(_blend(low, high, part))

    def prefill_s(self, new_tokens: Array, past_tokens: Array, step_tokens: Any, rows: Rows) -> Array:
        """Time of prompts alone, cut into steps of at most step_tokens; everything broadcasts with rows.

        Each whole step sees on average half the earlier ones as its past, which is exact while time is
        linear in it.
        """
        whole = np.floor(new_tokens / step_tokens * (1.0 - 1e-12))
        rest = new_tokens - whole * step_tokens
        total = self.one_step_s(rest, past_tokens + whole * step_tokens, rows)
        if np.any(whole > 0):
            middle = past_tokens + np.maximum(whole - 1.0, 0.0) * 0.5 * step_tokens
            total = total + whole * self.one_step_s(step_tokens + 0.0 * middle, middle, rows)
        return total

    def few_prompts_s(self, tokens: Array, past_tokens: Array, prompts: Array | float, rows: Rows) -> Array:
        """One prefill-only step of some prompts, each of tokens on a rank of its own.

        More prompts than ranks count as one on each. The step lasts as its fullest rank does; what ranks
        share, such as experts, grows with the prompts.
        """
        ranks = self.ranks[rows]
        spread = self.one_step_s(tokens * ranks, past_tokens, rows)
        if np.all(ranks == 1.0):
            return spread
        at, part = locate(self.prompt_nodes, tokens)
        alone = _blend(self.lone_s[rows, at, 0], self.lone_s[rows, at + 1, 0], part)
        at, part = locate(self.prompt_nodes, tokens * ranks)
        full = _blend(self.added_s[rows, at, 0], self.added_s[rows, at + 1, 0], part)
        share = np.minimum((prompts - 1.0) / np.maximum(ranks - 1.0, 1.0), 1.0)
        return np.where(ranks > 1.0, spread + (alone - full) * (1.0 - share), spread)

    def one_step_s(self, tokens: Array, past_tokens: Array, rows: Rows) -> Array:
        """One prefill-only step of tokens over a past."""
        at, part = locate(self.prompt_nodes, tokens)
        past, past_part = locate(self.past_nodes, past_tokens)
        alone = _blend(self.added_s[rows, at, 0], self.added_s[rows, at + 1, 0], part)
        low = _blend(self.past_s[rows, at, past], self.past_s[rows, at, past + 1], past_part)
        high = _blend(self.past_s[rows, at + 1, past], self.past_s[rows, at + 1, past + 1], past_part)
        return np.asarray(alone + _blend(low, high, part))


def locate(nodes: Array, x: Any) -> tuple[NDArray[np.intp], Array]:
    """Left neighbour of x and how far it is to the next one; linear beyond the ends."""
    at = np.minimum(np.maximum(nodes.searchsorted(x, side="right") - 1, 0), len(nodes) - 2)
    return at, np.asarray((x - nodes[at]) / (nodes[at + 1] - nodes[at]))


def _blend(low: Array, high: Array, part: Array) -> Array:
    return np.asarray(low + (high - low) * part)


def build_table(
    instances: Sequence[Any],
    kv_tokens: Sequence[float],
    max_batch: int,
    step_time_s: StepFunction,
) -> StepTable:
    """Tables of all instances, which share one batch grid up to max_batch.

    An instance needs .gpus, .parallelism.attention_dp and .held_share, .architecture and .engine as
    physics.instance has them.
    """
    ranks = [int(instance.parallelism.attention_dp) for instance in instances]
    batch_nodes = _batch_nodes(max_batch, max(ranks, default=1))
    windows = {w for instance in instances if (w := _window(instance)) is not None}
    context_nodes = np.unique(np.concatenate((_CONTEXT_NODES, np.array(sorted(windows), dtype=float))))
    past_nodes = np.unique(np.concatenate((_PAST_NODES, np.array(sorted(windows), dtype=float))))
    shape = (len(instances), len(_PROMPT_NODES))
    decode = np.empty((len(instances), len(batch_nodes), len(context_nodes)))
    added = np.empty((*shape, len(batch_nodes) + 1))
    lone = np.empty_like(added)
    past = np.empty((*shape, len(past_nodes)))
    points = {each: _points(each, batch_nodes, context_nodes, past_nodes) for each in set(ranks)}
    for row, instance in enumerate(instances):
        decode[row], added[row], lone[row], past[row] = _tables(instance, points[ranks[row]], step_time_s)
    return StepTable(
        batch_nodes,
        context_nodes,
        _PROMPT_NODES,
        past_nodes,
        decode,
        added,
        lone,
        past,
        np.asarray(kv_tokens, dtype=float),
        np.array([float(instance.gpus) for instance in instances]),
        np.array([float(rank) for rank in ranks]),
        np.array([float(instance.parallelism.held_share) for instance in instances]),
        np.array([float(instance.engine.request_overhead_s) for instance in instances]),
    )


def _window(instance: Any) -> int | None:
    architecture = instance.architecture
    if architecture.index_top_k_tokens:
        return int(architecture.index_top_k_tokens)
    return (
        int(architecture.window_tokens) if architecture.window_layers and architecture.window_tokens else None
    )


def _batch_nodes(max_batch: int, ranks: int) -> Array:
    """Batch sizes from 1 to max_batch, about √2 apart and whole multiples of the attention ranks above
    them.
    """
    top = max(float(max_batch), 2.0)
    steps = np.concatenate((2.0 ** np.arange(0.0, np.log2(top), 0.5), [top]))
    rounded = np.where(steps > ranks, np.rint(steps / ranks) * ranks, np.rint(steps))
    return np.unique(np.concatenate(([1.0, 2.0], rounded[rounded >= 1.0], [top])))


@dataclass(frozen=True, eq=False)
class _Points:
    """The loads of all tables of an instance as one flat list: a call of the physics costs its overhead."""

    load: dict[str, Array]
    shapes: tuple[tuple[int, ...], ...]

    def split(self, values: Array) -> list[Array]:
        """One array a table."""
        edges = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        return [
            values[a:b].reshape(shape) for a, b, shape in zip(edges, edges[1:], self.shapes, strict=False)
        ]


def _points(ranks: int, batch_nodes: Array, context_nodes: Array, past_nodes: Array) -> _Points:
    """decode (batch, context), mixed (tokens, batch + 1), with a past (tokens, past), and, where there are
    several ranks, mixed with all prompt tokens on one.
    """
    prompts = _PROMPT_NODES[:, None]
    spread = np.minimum(prompts, float(ranks))
    batch = np.concatenate(([0.0], batch_nodes))
    context = np.where(batch > 0, context_nodes[0], 0.0)
    tables: list[tuple[Any, ...]] = [
        (0.0, 1.0, 0.0, batch_nodes[:, None], context_nodes),
        (prompts, spread, 0.0, batch, context),
        (prompts, spread, past_nodes, 0.0, 0.0),
        *([(prompts, 1.0, 0.0, batch, context)] if ranks > 1 else []),
    ]
    wide = [np.broadcast_arrays(*table) for table in tables]
    names = (
        "prefill_tokens",
        "prefill_sequences",
        "prefill_past_tokens",
        "decode_batch",
        "decode_context_tokens",
    )
    flat = [np.concatenate([table[i].ravel() for table in wide]) for i in range(len(names))]
    return _Points(dict(zip(names, flat, strict=True)), tuple(table[0].shape for table in wide))


def _tables(instance: Any, points: _Points, step_time_s: StepFunction) -> tuple[Array, Array, Array, Array]:
    values = np.asarray(step_time_s(instance, **points.load), dtype=float)
    decode, mixed, with_past, *one_rank = points.split(values)
    base = np.concatenate(([0.0], decode[:, 0]))
    lone = one_rank[0] if one_rank else mixed
    return decode, mixed - base, lone - base, with_past - mixed[:, :1]
