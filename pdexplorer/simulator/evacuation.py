"""An instance dies: what its sequences had at that moment, and the instance as new."""

from pdexplorer.simulator.residents import Residents
from pdexplorer.simulator.sequence import DECODING, WAITING, Sequence
from pdexplorer.simulator.stretch import stretch_s
from pdexplorer.simulator.usage import IDLE


def evacuate(engine: Residents) -> list[Sequence]:
    """Every sequence that is here, oldest first, with the tokens it got so far; none of their KV is left.

    The step or iteration under way is lost: its time was spent, its tokens never came.
    """
    now_s, decodes = engine.env.now, engine.decodes
    if engine.running:
        engine.close(now_s)
        whole = engine.iterations_before(now_s)
        if whole:
            end_s = engine.start_s + stretch_s(whole, engine.base_s, engine.ramp_s)
            decodes.advance(whole, engine.start_s, engine.base_s, engine.ramp_s, end_s)
    here = list(engine.admitted.values())
    for sequence in here:
        if sequence.state == DECODING:
            decodes.preempt(sequence)
    for sequence in engine.arrived:
        sequence.last_token_s = sequence.first_token_s  # NaN where prefill made no token
    lost = [*here, *engine.arrived, *engine.waiting, *engine.due, *engine.coming]
    for sequence in lost:
        sequence.state = WAITING
        sequence.reserved = False
    decodes.drop_stale()
    engine.waiting.clear()
    engine.partial = None
    engine.arrived, engine.chunks, engine.due, engine.coming = [], [], [], []
    engine.admitted.clear()
    engine.prefilling = engine.inbound = engine.in_transfer = engine.steps = 0
    engine.step_end = engine.held_from = None
    engine.freed = False
    engine.kv.free = engine.kv.low = engine.kv.blocks
    engine.usage.enter(IDLE, now_s)
    return lost
