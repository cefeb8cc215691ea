"""The simulator's clock: the same step times as step_time_s, in plain floats, repeats remembered."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import (
    attention_s,
    decode_context_factor,
    slowest_rank_share,
)
from pdexplorer.physics.pairs import prefill_pairs
from pdexplorer.physics.plan import StepPlan
from pdexplorer.physics.step import StepLoad, load_parts, rank_attention

__all__ = ["StepTimer", "compile_timer", "prefill_pairs"]

_REMEMBERED = 200_000
"""Token counts whose times are kept; a long replay meets few distinct ones, the bound only caps memory."""


@dataclass(slots=True)
class StepTimer:
    """Step times of one instance, engine overhead included."""

    plan: StepPlan
    _decode: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    _sizes: dict[tuple[int, int, int], _Size] = field(default_factory=dict)

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
            full, window = self._per_context(batch)
            load = StepLoad(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(batch), 0.0, 0.0)
            known = self._decode[batch] = (float(sum(load_parts(self.plan, load))), full, window)
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
        key = (prefill_tokens, prefill_sequences, batch)
        size = self._sizes.get(key) or self._size(prefill_tokens, prefill_sequences, batch)
        if size.joined is not None:
            return self._joined_s(
                size, pairs_full, pairs_window, kv_read_full, kv_read_window, context_sum, window_sum
            )
        compute = size.compute_s + pairs_full * size.pair_full_s + pairs_window * size.pair_window_s
        memory = kv_read_full * size.read_full_s + kv_read_window * size.read_window_s
        return (
            size.base_s
            + sqrt(compute * compute + memory * memory)
            + context_sum * size.context_full_s
            + window_sum * size.context_window_s
        )

    def _size(self, tokens: int, sequences: int, batch: int) -> _Size:
        """What a step's token counts alone settle, remembered."""
        plan = self.plan
        load = StepLoad(float(tokens), float(sequences), 0.0, 0.0, 0.0, 0.0, float(batch), 0.0, 0.0)
        products, _, decode, *others = load_parts(plan, load)
        prefill_share = slowest_rank_share(float(sequences), plan.attention_dp) / plan.pp
        decode_share = slowest_rank_share(float(batch), plan.attention_dp) / plan.pp
        joins = tokens > 0 and plan.prefill_serial_full_s > 0
        base = float(products + sum(others)) + (0.0 if joins else float(decode))
        # With pipeline stages the prefill passes once more, partly filled.
        passes = 1.0 + (plan.pp - 1) / plan.pp
        scale = prefill_share * passes * (tokens > 0)
        full, window = self._per_context(batch)
        if len(self._sizes) >= _REMEMBERED:
            self._sizes.clear()
        size = self._sizes[tokens, sequences, batch] = _Size(
            base_s=base + (0.0 if joins else (tokens > 0) * plan.prefill_launch_s * passes),
            compute_s=tokens * plan.prefill_token_s * scale,
            pair_full_s=plan.prefill_pair_full_s * scale,
            pair_window_s=plan.prefill_pair_window_s * scale,
            read_full_s=plan.prefill_read_full_s * scale,
            read_window_s=plan.prefill_read_window_s * scale,
            context_full_s=full,
            context_window_s=window,
            joined=(load, prefill_share, decode_share) if joins else None,
        )
        return size

    def _joined_s(
        self,
        size: _Size,
        pairs_full: float,
        pairs_window: float,
        kv_read_full: float,
        kv_read_window: float,
        context_sum: float,
        window_sum: float,
    ) -> float:
        """Where prefill and decode share a kernel, the whole attention is worked out."""
        assert size.joined is not None
        known, prefill_share, decode_share = size.joined
        load = StepLoad(
            *(known.prefill_tokens, known.prefill_sequences, pairs_full, pairs_window),
            *(kv_read_full, kv_read_window, known.decode_batch, context_sum, window_sum),
        )
        ranked = rank_attention(load, prefill_share, decode_share)
        prefill, decode = attention_s(self.plan, ranked)
        bubble = (self.plan.pp - 1) / self.plan.pp * prefill
        return float(size.base_s + prefill + decode + bubble)

    def _per_context(self, batch: int) -> tuple[float, float]:
        plan = self.plan
        share = slowest_rank_share(float(batch), plan.attention_dp) / plan.pp
        scale = share * decode_context_factor(plan, batch * share)
        return float(plan.decode_context_full_s * scale), float(plan.decode_context_window_s * scale)


@dataclass(frozen=True, slots=True)
class _Size:
    """Coefficients of one combination of token counts; joined holds its load where attention is not
    separable.
    """

    base_s: float
    compute_s: float
    pair_full_s: float
    pair_window_s: float
    read_full_s: float
    read_window_s: float
    context_full_s: float
    context_window_s: float
    joined: tuple[StepLoad, float, float] | None


def compile_timer(instance: Instance) -> StepTimer:
    """A timer of this instance; compiling takes microseconds."""
    return StepTimer(instance.plan)
