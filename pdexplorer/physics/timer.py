"""The simulator's clock: the same step times as step_time_s, in plain floats, with what repeats remembered."""

from __future__ import annotations

from dataclasses import dataclass, field

from pdexplorer.physics.instance import Instance
from pdexplorer.physics.kernels import (
    AttentionLoad,
    attention_s,
    decode_context_factor,
    slowest_rank_share,
)
from pdexplorer.physics.pairs import prefill_pairs
from pdexplorer.physics.plan import StepPlan
from pdexplorer.physics.step import StepLoad, load_parts

__all__ = ["StepTimer", "compile_timer", "prefill_pairs"]

_REMEMBERED = 200_000
"""Token counts whose times are kept; a long replay meets few distinct ones, the bound only caps memory."""


@dataclass(slots=True)
class StepTimer:
    """Step times of one instance, engine overhead included."""

    plan: StepPlan
    _decode: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    _sizes: dict[tuple[int, int, int], tuple[float, float, float]] = field(default_factory=dict)

    @property
    def window_tokens(self) -> int | None:
        """Cap on the context windowed or sparse layers read, or None."""
        return self.plan.window_tokens

    def decode_coefficients(self, batch: int) -> tuple[float, float, float]:
        """(a, b_full, b_window): a decode-only step takes a + b_full·Σcontext + b_window·Σmin(context, window)."""
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
        """Seconds of a step with prefill and decode together. Pairs and reads are sums over the prompts in it."""
        key = (prefill_tokens, prefill_sequences, batch)
        sizes = self._sizes.get(key)
        if sizes is None:
            sizes = self._size_times(prefill_tokens, prefill_sequences, batch)
        base, prefill_share, decode_share = sizes
        if prefill_tokens <= 0:
            full, window = self._per_context(batch)
            return base + context_sum * full + window_sum * window
        prefill, decode = attention_s(
            self.plan,
            AttentionLoad(
                prefill_tokens * prefill_share,
                prefill_sequences * prefill_share,
                pairs_full * prefill_share,
                pairs_window * prefill_share,
                kv_read_full * prefill_share,
                kv_read_window * prefill_share,
                batch * decode_share,
                context_sum * decode_share,
                window_sum * decode_share,
            ),
        )
        bubble = 0.0
        if self.plan.pp > 1:
            full, window = self._per_context(batch)
            alone = self._decode_fixed(batch * decode_share) + context_sum * full + window_sum * window
            bubble = (self.plan.pp - 1) / self.plan.pp * (prefill + decode - alone)
        return float(base + prefill + decode + bubble)

    def _size_times(self, tokens: int, sequences: int, batch: int) -> tuple[float, float, float]:
        """(all but attention where there is a prefill, all but context where not; both slowest-rank shares)."""
        plan = self.plan
        load = StepLoad(float(tokens), float(sequences), 0.0, 0.0, 0.0, 0.0, float(batch), 0.0, 0.0)
        products, _, decode, *others = load_parts(plan, load)
        base = float(products + sum(others)) + (0.0 if tokens > 0 else float(decode))
        if len(self._sizes) >= _REMEMBERED:
            self._sizes.clear()
        known = self._sizes[tokens, sequences, batch] = (
            base,
            slowest_rank_share(float(sequences), plan.attention_dp) / plan.pp,
            slowest_rank_share(float(batch), plan.attention_dp) / plan.pp,
        )
        return known

    def _decode_fixed(self, rank_batch: float) -> float:
        plan = self.plan
        return (rank_batch > 0) * plan.decode_launch_s + rank_batch * plan.decode_sequence_s

    def _per_context(self, batch: int) -> tuple[float, float]:
        plan = self.plan
        share = slowest_rank_share(float(batch), plan.attention_dp) / plan.pp
        scale = share * decode_context_factor(plan, batch * share)
        return float(plan.decode_context_full_s * scale), float(plan.decode_context_window_s * scale)


def compile_timer(instance: Instance) -> StepTimer:
    """A timer of this instance; compiling takes microseconds."""
    return StepTimer(instance.plan)
