"""The simulator's clock: the same step times as step_time_s, in plain floats, with what repeats remembered.

A step's time is a sum of terms that each depend on one count: all tokens, rows of logits, the decode batch.
These are remembered by that count, of which a replay meets few hundred, not by their combinations, of which
almost every step is a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import (
    AttentionLoad,
    attention_s,
    collectives_s,
    decode_attention_s,
    decode_context_factor,
    elementwise_s,
    expert_s,
    head_s,
    products_s,
    slowest_rank_share,
)
from pdexplorer.physics.pairs import prefill_pairs
from pdexplorer.physics.plan import StepPlan

__all__ = ["StepTimer", "compile_timer", "prefill_pairs"]

_REMEMBERED = 50_000
"""Counts whose times are kept; a replay meets few distinct ones, the bound only caps memory."""


@dataclass(slots=True)
class StepTimer:
    """Step times of one instance, engine overhead included."""

    plan: StepPlan
    joins: bool  # prefill and decode share an attention kernel, whose time is no sum
    passes: float  # of a prefill through the pipeline, the last one partly filled
    _batches: dict[int, tuple[float, float, float, float]] = field(default_factory=dict)
    _sequences: dict[int, float] = field(default_factory=dict)
    _tokens: dict[tuple[float, float], float] = field(default_factory=dict)
    _rows: dict[float, float] = field(default_factory=dict)
    _decode: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    @property
    def window_tokens(self) -> int | None:
        """Cap on the context windowed or sparse layers read, or None."""
        return self.plan.window_tokens

    def decode_coefficients(self, batch: int) -> tuple[float, float, float]:
        """(a, b_full, b_window): a decode-only step takes a + b_full·Σcontext + b_window·Σmin(context,
        window).
        """
        known = self._decode.get(batch)
        if known is None:
            _, _, full, window = self._batches.get(batch) or self._batch(batch)
            alone_s = self.mixed_s(0, 0.0, 0.0, 0.0, 0.0, 0, batch, 0.0, 0.0)
            known = self._decode[batch] = (alone_s, full, window)
        return known

    def mixed_s(
        self,
        prefill_tokens: int,
        pairs_full: float,
        pairs_window: float,
        kv_read_full: float,
        kv_read_window: float,
        prefill_sequences: int,
        batch: int,
        context_sum: float,
        window_sum: float,
    ) -> float:
        """Seconds of a step with prefill and decode together. Pairs and reads are sums over the prompts in
        it.
        """
        plan = self.plan
        rank_batch, fixed_s, full_s, window_s = self._batches.get(batch) or self._batch(batch)
        share = self._sequences.get(prefill_sequences) or self._sequence_share(prefill_sequences)
        rank_tokens = prefill_tokens * share + rank_batch
        tokens = (prefill_tokens + batch) / plan.pp
        key = (tokens, rank_tokens)
        base_s = self._tokens.get(key) or self._tokens_s(key)
        if not prefill_tokens:
            rows_s = self._rows.get(rank_batch) or self._rows_s(rank_batch)
            return base_s + rows_s + fixed_s + context_sum * full_s + window_sum * window_s
        rows = prefill_sequences * share + rank_batch
        base_s += self._rows.get(rows) or self._rows_s(rows)
        if plan.pp > 1:
            base_s += self._bubble_s(prefill_tokens, prefill_sequences, share)
        if self.joins:
            load = AttentionLoad(
                *(prefill_tokens * share, prefill_sequences * share, pairs_full * share),
                *(pairs_window * share, kv_read_full * share, kv_read_window * share),
                *(rank_batch, *self._rank_contexts(batch, context_sum, window_sum)),
            )
            prefill_s, decode_s = attention_s(plan, load)
            return self._launched_s(
                float(base_s + self.passes * prefill_s + decode_s), prefill_tokens + batch
            )
        compute = share * (
            prefill_tokens * plan.prefill_token_s
            + pairs_full * plan.prefill_pair_full_s
            + pairs_window * plan.prefill_pair_window_s
        )
        memory = share * (
            kv_read_full * plan.prefill_read_full_s + kv_read_window * plan.prefill_read_window_s
        )
        return self._launched_s(
            base_s
            + fixed_s
            + self.passes * (plan.prefill_launch_s + sqrt(compute * compute + memory * memory))
            + context_sum * full_s
            + window_sum * window_s,
            prefill_tokens + batch,
        )

    def _launched_s(self, step_s: float, tokens: int) -> float:
        """A step of prompts, not shorter than the host takes to launch it where no graph holds it."""
        plan = self.plan
        if tokens <= plan.graph_tokens:
            return step_s
        return max(step_s, plan.host_step_s + plan.step_overhead_s)

    def _batch(self, batch: int) -> tuple[float, float, float, float]:
        """(requests of the fullest rank in a microbatch, their attention without context, seconds per Σ
        context and per Σ min(context, window)).
        """
        plan = self.plan
        share = slowest_rank_share(float(batch), plan.attention_dp) / plan.pp
        alone = AttentionLoad(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, batch * share, 0.0, 0.0)
        scale = share * decode_context_factor(plan, batch * share)
        known = self._batches[batch] = (
            batch * share,
            float(decode_attention_s(plan, alone)),
            float(plan.decode_context_full_s * scale),
            float(plan.decode_context_window_s * scale),
        )
        return known

    def _rank_contexts(self, batch: int, context_sum: float, window_sum: float) -> tuple[float, float]:
        share = slowest_rank_share(float(batch), self.plan.attention_dp) / self.plan.pp
        return context_sum * share, window_sum * share

    def _sequence_share(self, sequences: int) -> float:
        plan = self.plan
        share = float(slowest_rank_share(float(sequences), plan.attention_dp) / plan.pp)
        self._sequences[sequences] = share
        return share

    def _tokens_s(self, key: tuple[float, float]) -> float:
        """What all tokens of a step and those of its fullest rank settle, in one microbatch, and the
        engine's overhead.
        """
        tokens, rank_tokens = key
        if len(self._tokens) >= _REMEMBERED:
            self._tokens.clear()
        known = self._tokens[key] = (tokens > 0) * self.plan.step_overhead_s + self._through_s(
            tokens, rank_tokens
        )
        return known

    def _through_s(self, tokens: float, rank_tokens: float) -> float:
        plan = self.plan
        return float(
            products_s(plan, rank_tokens)
            + expert_s(plan, tokens)
            + collectives_s(plan, tokens, rank_tokens)
            + elementwise_s(plan, rank_tokens)
        )

    def _rows_s(self, rows: float) -> float:
        known = self._rows[rows] = float(head_s(self.plan, rows))
        return known

    def _bubble_s(self, tokens: int, sequences: int, share: float) -> float:
        """The prefill's last pass through a pipeline, attention apart."""
        pp = self.plan.pp
        return (
            (pp - 1) / pp * (self._through_s(tokens / pp, tokens * share) + self._rows_s(sequences * share))
        )


def compile_timer(instance: Instance) -> StepTimer:
    """A timer of this instance; compiling takes microseconds."""
    plan = instance.plan
    return StepTimer(plan, plan.prefill_serial_full_s > 0, 1.0 + (plan.pp - 1) / plan.pp)
