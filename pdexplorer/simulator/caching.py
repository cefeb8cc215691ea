"""The caches of a pool at work: what a prompt hits as it is admitted, what it leaves behind."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from pdexplorer.simulator.cache import Blocks, HbmCache, PrefixIndex
from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.options import CacheOptions
from pdexplorer.simulator.prefill import PrefillInstance
from pdexplorer.simulator.sequence import Sequence as Request
from pdexplorer.simulator.tiers import TierPort, plan_fetch, start_fetch
from pdexplorer.workload.requests import Requests


class KvMemory(Protocol):
    """An instance whose KV memory keeps blocks."""

    def kv_low_blocks(self) -> int:
        """Fewest KV blocks that were free since it was last asked."""
        ...

    def charge(self, blocks: int) -> None:
        """Take KV blocks, or give back a negative number of them."""
        ...


class PoolCaches:
    """Of one pool, whose KV blocks have kv_block_tokens. ports: per instance the slower tiers it reads,
    fastest first.

    An instance charges every sequence for all its blocks, less those that others who run there hold
    already, and gives all back as it leaves, less those that others hold still: the memory in use is that of
    the distinct blocks, in whatever order they come and go. What two sequences computed beside each other is
    one block from the end of the later prefill on (as in SGLang's tree; vLLM keeps both until one leaves).
    """

    def __init__(
        self,
        requests: Requests,
        options: CacheOptions,
        kv_block_tokens: int,
        instances: Sequence[KvMemory],
        ports: Sequence[Sequence[tuple[str, TierPort]]],
        hits: Counter[str],
    ) -> None:
        self.prompts: Sequence[Blocks] = requests.block_hashes or ()
        self.contexts = requests.context_hashes
        self.tokens = requests.block_tokens
        self.options = options
        self.index = PrefixIndex()
        self.charge = [instance.charge for instance in instances]
        self.kv_block_tokens = kv_block_tokens
        self.ports = ports
        self.hits = hits  # blocks by where they were found
        share = kv_block_tokens / self.tokens if options.hbm else 0.0
        self.hbm = [
            HbmCache(number, lambda low=instance.kv_low_blocks: low() * share, self.index)  # type: ignore[misc]
            for number, instance in enumerate(instances)
        ]
        self.holding: dict[int, tuple[int, int]] = {}  # request: instance, leading blocks it holds there

    def blocks(self, request: Request) -> Blocks:
        """Hashes of its prompt."""
        return self.prompts[request.index]

    def cached_tokens(self, instance: int, request: Request) -> int:
        """Tokens of its prompt that this instance has, looked at without using them."""
        hbm = self.hbm[instance]
        blocks = self.prompts[request.index]
        count = 0
        for block in blocks:
            if block not in hbm.held and block not in hbm.idle:
                break
            count += 1
        return self._tokens(count, request)

    def fetch_s(
        self, instance: int, request: Request, now_s: float, recompute_s: Callable[[int, int], float]
    ) -> float | None:
        """Start to fetch what slower tiers have beyond this instance's own blocks, where that is faster than
        recompute_s(new tokens, past tokens); when it is here, or None.
        """
        ports = self.ports[instance]
        if not ports:
            return None
        blocks = self.prompts[request.index]
        here = self.hbm[instance].hits(blocks)
        fetch = plan_fetch(ports, blocks, here, now_s)
        if fetch is None:
            return None
        past = self._tokens(here, request)
        tokens = self._tokens(fetch.blocks, request)
        if tokens <= past or fetch.end_s - now_s >= recompute_s(tokens - past, past):
            return None
        start_fetch(ports, fetch, blocks, now_s)
        request.fetched_tokens = tokens
        for name, count in fetch.of_tier:
            self.hits[name] += count
        return fetch.end_s

    def admit(self, instance: int, request: Request) -> int:
        """Its prefill starts after what is here or was fetched; how many leading blocks are here."""
        count = self.hbm[instance].hits(self.prompts[request.index])
        past = max(self._tokens(count, request), request.fetched_tokens)
        request.past_tokens = past
        if request.prefill_end_s != request.prefill_end_s:  # NaN: not a recomputation
            request.cached_tokens = past
        return count

    def shared_blocks(self, instance: int, request: Request) -> int:
        """KV blocks of its prompt that sequences running here hold: it is not charged for them."""
        count = self.hbm[instance].shared(self.prompts[request.index])
        return self._kv_blocks(min(count, (request.input_tokens - 1) // self.tokens))

    def hold(self, instance: int, request: Request) -> None:
        """It runs here from now on, or will: nobody pushes out what of its prompt is here."""
        self.hold_hits(instance, request, self.hbm[instance].hits(self.prompts[request.index]))

    def hold_hits(self, instance: int, request: Request, count: int) -> None:
        """The same straight after that many hits. Its last token is always computed, so its block is new."""
        count = min(count, (request.input_tokens - 1) // self.tokens)
        self.hbm[instance].hold_hits(self.prompts[request.index][:count])
        self.holding[request.index] = (instance, count)

    def prefilled(self, instance: int, request: Request) -> None:
        """Its prompt's KV is complete here."""
        blocks = self.prompts[request.index]
        _, depth = self.holding.get(request.index, (instance, 0))
        self.holding[request.index] = (instance, len(blocks))
        if self.options.hbm:
            hbm, rest = self.hbm[instance], blocks[depth:]
            twice = hbm.shared(rest)
            if twice:
                self.charge[instance](self._kv_blocks(depth) - self._kv_blocks(depth + twice))
            hbm.hold(rest)
        for _, port in self.ports[instance]:
            port.blocks.put(blocks)

    def release(self, request: Request, generated: bool) -> None:
        """Its KV here is free; generated: its answer's was filled here too, and is worth keeping."""
        instance, depth = self.holding.pop(request.index, (-1, 0))
        if instance < 0:
            return
        answer = self._answer(request) if generated else ()
        if self.options.hbm:
            hbm, blocks = self.hbm[instance], self.prompts[request.index][:depth]
            kept = hbm.shared(blocks, users=2)
            if kept:
                self.charge[instance](self._kv_blocks(kept))
            hbm.release(blocks, answer)
        if generated and answer and self.options.write_back:
            self._put(instance, request)

    def write_back(self, instance: int, request: Request) -> None:
        """Its answer's KV comes back from where it was decoded."""
        if self.options.hbm:
            self.hbm[instance].release((), self._answer(request))
        self._put(instance, request)

    def clear(self, instance: int) -> None:
        """The instance died: its memory is gone, slower tiers stay."""
        self.hbm[instance].clear()
        for index in [index for index, (where, _) in self.holding.items() if where == instance]:
            del self.holding[index]

    def _put(self, instance: int, request: Request) -> None:
        if self.contexts is not None:
            for _, port in self.ports[instance]:
                port.blocks.put(self.contexts[request.index])

    def _answer(self, request: Request) -> Blocks:
        if self.contexts is None:
            return ()
        return self.contexts[request.index][len(self.prompts[request.index]) :]

    def _kv_blocks(self, blocks: int) -> int:
        """KV blocks within that many leading hash blocks."""
        return blocks * self.tokens // self.kv_block_tokens

    def _tokens(self, blocks: int, request: Request) -> int:
        """One token of a prompt is always computed."""
        tokens = blocks * self.tokens
        return tokens if tokens < request.input_tokens else request.input_tokens - 1


def wire(engine: Engine, caches: PoolCaches, number: int) -> None:
    """Let an engine of that number know what its prompts share, and the caches who comes and goes."""

    def admit(request: Request) -> None:
        count = caches.admit(number, request)
        if caches.options.hbm:
            caches.hold_hits(number, request, count)

    engine.on_admit = admit
    if caches.options.hbm:
        engine.shared_blocks = partial(caches.shared_blocks, number)
        engine.on_reserve = partial(caches.hold, number)
        engine.on_drop = partial(caches.release, generated=False)


def wire_prefill(instance: PrefillInstance, caches: PoolCaches) -> None:
    """The same for an instance of a prefill pool; a prompt is released as its transfer ends."""
    instance.on_admit = caches.admit
    instance.on_release = partial(caches.release, generated=False)
    if caches.options.hbm:
        instance.on_hold = caches.hold
        instance.shared_blocks = caches.shared_blocks
