"""The caches of a pool at work: what a prompt hits as it is admitted, what it leaves behind."""

from collections import Counter
from collections.abc import Callable, Sequence

from pdexplorer.simulator.cache import Blocks, HbmCache, PrefixIndex
from pdexplorer.simulator.engine import Engine
from pdexplorer.simulator.options import CacheOptions
from pdexplorer.simulator.sequence import Sequence as Request
from pdexplorer.simulator.tiers import TierPort, plan_fetch, start_fetch
from pdexplorer.workload.requests import Requests


def low_blocks(engine: Engine) -> int:
    """Fewest KV blocks free on an engine since someone last asked."""
    return engine.kv_low_blocks(engine.env.now)


class PoolCaches:
    """Of one pool. low_blocks: per instance the fewest KV blocks (of kv_block_tokens) that were free since it
    was last asked. ports: per instance the slower tiers it reads, fastest first.
    """

    def __init__(
        self,
        requests: Requests,
        options: CacheOptions,
        kv_block_tokens: int,
        low_blocks: Sequence[Callable[[], int]],
        ports: Sequence[Sequence[tuple[str, TierPort]]],
        hits: Counter[str],
    ) -> None:
        self.prompts: Sequence[Blocks] = requests.block_hashes or ()
        self.contexts = requests.context_hashes
        self.tokens = requests.block_tokens
        self.options = options
        self.index = PrefixIndex()
        self.ports = ports
        self.hits = hits  # blocks by where they were found
        share = kv_block_tokens / self.tokens if options.hbm else 0.0
        self.hbm = [
            HbmCache(number, lambda low=low: low() * share, self.index)  # type: ignore[misc]
            for number, low in enumerate(low_blocks)
        ]
        self.holding: dict[int, int] = {}  # request: instance that holds its prompt

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

    def admit(self, instance: int, request: Request) -> None:
        """Its prefill starts after what is here or was fetched."""
        count = self.hbm[instance].hits(self.prompts[request.index])
        past = max(self._tokens(count, request), request.fetched_tokens)
        request.past_tokens = past
        if request.prefill_end_s != request.prefill_end_s:  # NaN: not a recomputation
            request.cached_tokens = past

    def prefilled(self, instance: int, request: Request) -> None:
        """Its prompt's KV is complete here."""
        if request.index in self.holding:
            return
        self.holding[request.index] = instance
        blocks = self.prompts[request.index]
        if self.options.hbm:
            self.hbm[instance].hold(blocks)
        for _, port in self.ports[instance]:
            port.blocks.put(blocks)

    def release(self, request: Request, generated: bool) -> None:
        """It no longer needs its blocks here; generated: those of its answer were filled here too."""
        instance = self.holding.pop(request.index, -1)
        if instance < 0:
            return
        answer = self._answer(request) if generated else ()
        if self.options.hbm:
            self.hbm[instance].release(self.prompts[request.index], answer)
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
        for index in [index for index, where in self.holding.items() if where == instance]:
            del self.holding[index]

    def _put(self, instance: int, request: Request) -> None:
        if self.contexts is not None:
            for _, port in self.ports[instance]:
                port.blocks.put(self.contexts[request.index])

    def _answer(self, request: Request) -> Blocks:
        if self.contexts is None:
            return ()
        return self.contexts[request.index][len(self.prompts[request.index]) :]

    def _tokens(self, blocks: int, request: Request) -> int:
        """One token of a prompt is always computed."""
        tokens = blocks * self.tokens
        return tokens if tokens < request.input_tokens else request.input_tokens - 1
