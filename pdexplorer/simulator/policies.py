"""Which prompts a step prefills, by scheduling policy, and whether the decode batch runs along.

chunked: decodes first, prefill fills the token budget (vLLM v1). whole: the same without splitting a prompt
(TensorRT-LLM's default). prefill_first: while a prompt can be
admitted, steps prefill only, chunked to the budget, and decodes wait (SGLang's default). unchunked: the
same with whole prompts, as many as fit the budget and at least one (vLLM of 2023). static: a batch is filled,
prefilled, decoded to its last answer, and only then is there another (offline jobs before continuous
batching).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pdexplorer.simulator.residents import Residents
from pdexplorer.simulator.sequence import PREFILLING, Chunk, Sequence


def chunked(engine: Residents) -> tuple[list[Chunk], bool]:
    """Decodes first; what is left of the budget prefills, in order of admission."""
    decodes = engine.decodes
    due_blocks = engine.make_room() if decodes.size else 0
    if not engine.waiting and engine.partial is None:
        return [], True
    return _fill(engine, engine.chunk_tokens - decodes.size, due_blocks), True


def whole(engine: Residents) -> tuple[list[Chunk], bool]:
    """Decodes first; what is left of the budget prefills as many whole prompts as fit, one at least. None
    comes in before KV is free for its whole answer, and for those of all that run.
    """
    decodes = engine.decodes
    due_blocks = engine.make_room() if decodes.size else 0
    if not engine.waiting or _awaits_company(engine):
        return [], True
    promised = sum(_blocks_at_end(engine, sequence) for sequence in engine.admitted.values())
    unpromised = engine.kv.blocks - promised
    return _fill_whole(engine, engine.chunk_tokens - decodes.size, due_blocks, unpromised), True


def _awaits_company(engine: Residents) -> bool:
    """Whether too few prompts wait, and not for long."""
    decodes = engine.decodes
    if not decodes.size or len(engine.waiting) >= engine.company:
        engine.held_from = None
        return False
    if engine.held_from is None:
        engine.held_from = decodes.iteration
    if decodes.iteration - engine.held_from < engine.company_steps:
        return True
    engine.held_from = None
    return False


def prefill_first(engine: Residents) -> tuple[list[Chunk], bool]:
    """Prefill while there is any to do, in chunks."""
    if engine.waiting or engine.partial is not None:
        chunks = _fill(engine, engine.chunk_tokens, 0)
        if chunks:
            return chunks, False
    if engine.decodes.size:
        engine.make_room()
    return [], True


def unchunked(engine: Residents) -> tuple[list[Chunk], bool]:
    """Prefill while there is any to do, whole prompts."""
    chunks = _fill_whole(engine, engine.chunk_tokens, 0, engine.kv.blocks * engine.max_batch)
    if chunks:
        return chunks, False
    if engine.decodes.size:
        engine.make_room()
    return [], True


def static(engine: Residents) -> tuple[list[Chunk], bool]:
    """Fill a batch while nothing decodes yet; then decode all of it."""
    if not engine.decodes.size and engine.partial is None:
        engine.filling = True
    if engine.filling and (engine.waiting or engine.partial is not None):
        chunks = _fill(engine, engine.chunk_tokens, 0)
        if chunks:
            return chunks, False
    engine.filling = False
    if engine.decodes.size:
        engine.make_room()
    return [], True


def _fill_whole(engine: Residents, budget: int, due_blocks: int, unpromised: int) -> list[Chunk]:
    """unpromised: KV blocks that what runs will not need before its end."""
    chunks: list[Chunk] = []
    while engine.waiting:
        head = engine.waiting[0]
        unpromised -= _blocks_at_end(engine, head)
        if unpromised < 0 and engine.admitted:
            break
        if chunks and head.input_tokens + head.generated - head.cached_tokens > budget:
            break
        if not _admit_head(engine, due_blocks):
            break
        new = head.target_tokens - head.past_tokens
        chunks.append((head, new))
        budget -= new
        if budget <= 0:
            break
    return chunks


def _blocks_at_end(engine: Residents, sequence: Sequence) -> int:
    return engine.kv.blocks_of(sequence.input_tokens + sequence.output_tokens - 1)


def _fill(engine: Residents, budget: int, due_blocks: int) -> list[Chunk]:
    chunks: list[Chunk] = []
    partial = engine.partial
    if partial is not None and budget > 0:
        new = min(budget, partial.target_tokens - partial.past_tokens)
        chunks.append((partial, new))
        budget -= new
    while budget > 0 and engine.waiting:
        head = engine.waiting[0]
        if not _admit_head(engine, due_blocks):
            break
        new = min(budget, head.target_tokens - head.past_tokens)
        chunks.append((head, new))
        budget -= new
    return chunks


def _admit_head(engine: Residents, due_blocks: int) -> bool:
    """Move the head of the queue in, with KV for its whole prompt and what it had generated.

    due_blocks: what the decode batch takes in the same step. After a preemption nothing comes in: what is
    free is less than the head, preempted last, gave back.
    """
    head, kv = engine.waiting[0], engine.kv
    if engine.decodes.size + engine.prefilling + engine.inbound >= engine.max_batch:
        return False
    tokens = head.input_tokens + head.generated
    blocks = engine.blocks_needed(head, tokens)
    if not kv.admits(blocks + due_blocks):
        return False
    engine.waiting.popleft()
    if not engine.waiting:
        engine.freed = True  # reservations wait while prompts do
    head.target_tokens = tokens
    head.past_tokens = head.cached_tokens
    if engine.on_admit is not None:
        # It hits what is here before its own memory pushes that out.
        kv.low = min(kv.low, kv.free - due_blocks)
        engine.on_admit(head)
    kv.take(blocks)
    head.state = PREFILLING
    engine.prefilling += 1
    engine.admit(head)
    return True


POLICIES: Mapping[str, Callable[[Residents], tuple[list[Chunk], bool]]] = MappingProxyType(
    {
        "chunked": chunked,
        "whole": whole,
        "prefill_first": prefill_first,
        "unchunked": unchunked,
        "static": static,
    }
)
