"""Macro-steps equal the step-by-step engine where caches, routers, faults and static batches touch it."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from pdexplorer.simulator.fault import Fault
from pdexplorer.simulator.faulty_disaggregated import FaultyDisaggregated
from pdexplorer.simulator.managed_colocated import ManagedColocated
from pdexplorer.simulator.options import CacheOptions
from pdexplorer.simulator.split import DynamoPair, LlmdThreshold, OwnThreshold
from pdexplorer.simulator.tiers import Tier
from tests.simulator.reference import StepEngine
from tests.simulator.test_macro_steps import assert_same, pools, scenario


def with_hashes(draw, given):
    """Prompts of a few families: the first blocks are common, some answers come back."""
    block_tokens = int(draw.choice([8, 32]))
    prompts, contexts = [], []
    for row, (prompt, answer) in enumerate(
        zip(given.input_tokens.tolist(), given.output_tokens.tolist(), strict=True)
    ):
        family, shared = int(draw.integers(3)), int(draw.integers(8))
        blocks = [
            family * 1000 + each if each < shared else 10**6 * (row + 1) + each
            for each in range((prompt + answer) // block_tokens)
        ]
        prompts.append(tuple(blocks[: prompt // block_tokens]))
        contexts.append(tuple(blocks))
    return replace(
        given,
        block_hashes=tuple(prompts),
        context_hashes=tuple(contexts) if draw.integers(2) else None,
        block_tokens=block_tokens,
    )


def managed(draw, given, options):
    """Options with some of everything."""
    rules = [None, OwnThreshold(60), LlmdThreshold(30), LlmdThreshold(0), DynamoPair(100, 0.8)]
    tier = Tier(draw.choice([2000.0, 1e6]), draw.choice([1e4, 1e7]), draw.uniform(0, 0.01))
    caches = [
        None,
        CacheOptions(),
        CacheOptions(host=tier, write_back=False),
        CacheOptions(hbm=False, store=tier),
        CacheOptions(ssd=tier, store=tier),
    ]
    end_s = float(given.arrival_s[-1]) + 1.0
    faults = []
    for _ in range(int(draw.integers(0, 4))):
        start_s = draw.uniform(0, end_s)
        faults.append(
            Fault(
                str(draw.choice(["down", "drain", "router_down", "slow_link", "transfer_failure"])),
                start_s,
                start_s + draw.uniform(0.01, 0.5 * end_s),
                pool=str(draw.choice(["prefill", "decode"])),
                instance=int(draw.integers(3)),
                rate_fraction=draw.uniform(0.1, 1.0),
                jitter_s=draw.uniform(0.0, 0.01),
                failure_fraction=draw.uniform(0.0, 0.8),
            )
        )
    return replace(
        options,
        routing=str(draw.choice(["round_robin", "least_loaded", "prefix_aware"])),
        cache=caches[int(draw.integers(len(caches)))],
        split_rule=rules[int(draw.integers(len(rules)))],
        refuse_ttft_s=draw.choice([None, 0.5]),
        overflow_wait_s=draw.choice([None, 0.05]),
        fallback_transfer_s=draw.choice([None, 0.05]),
        retry_after_s=draw.choice([0.0, 0.01]),
        faults=tuple(faults),
        trace_requests=(0, 3),
    )


def assert_all_same(macro, steps):
    assert_same(macro, steps)
    for name in ("retries", "cached_tokens"):
        assert macro.records[name].tolist() == steps.records[name].tolist()
    assert macro.timelines.keys() == steps.timelines.keys()
    for row, line in macro.timelines.items():
        np.testing.assert_allclose(line.token_s, steps.timelines[row].token_s, atol=1e-9, rtol=0)


def assert_conserved(result):
    records = result.records
    done = records["status"] == "completed"
    assert not (records["status"] == "unfinished").any()
    assert result.itl_gaps.sum() == (records["output_tokens"][done] - 1).sum()
    decode_s = (records["finish_s"] - records["first_token_s"])[done].sum()
    assert result.itl_sum_s == pytest.approx(decode_s, rel=1e-9)
    for row, line in result.timelines.items():
        if done[row]:
            assert len(line.token_s) == records["output_tokens"][row]
            assert line.token_s[0] == pytest.approx(records["first_token_s"][row])
            assert line.token_s[-1] == pytest.approx(records["finish_s"][row])
    for usage in result.pools.values():
        spent_s = usage.prefill_busy_s + usage.decode_busy_s + usage.transfer_blocked_s + usage.idle_s
        np.testing.assert_allclose(spent_s, result.simulated_s, rtol=1e-9)


@pytest.mark.parametrize("block", range(8))
def test_colocated(block):
    for seed in range(5000 + 20 * block, 5000 + 20 * block + 20):
        draw, _, spec, given, options = scenario(seed)
        given = with_hashes(draw, given)
        options = managed(draw, given, options)
        if seed % 4 == 0:
            spec = replace(spec, policy="static")
        macro = ManagedColocated(spec, given, options, 10.0).run()
        assert_all_same(macro, ManagedColocated(spec, given, options, 10.0, StepEngine).run())
        assert_conserved(macro)


@pytest.mark.parametrize("block", range(8))
def test_disaggregated(block):
    for seed in range(6000 + 20 * block, 6000 + 20 * block + 20):
        *arguments, given, options = pools(seed)
        draw = np.random.default_rng(seed)
        given = with_hashes(draw, given)
        options = managed(draw, given, options)
        macro = FaultyDisaggregated(*arguments, given, options, 10.0).run()
        assert_all_same(macro, FaultyDisaggregated(*arguments, given, options, 10.0, StepEngine).run())
        assert_conserved(macro)


def digest():
    """Of replays with caches, rules and faults."""
    content = b""
    for seed in range(6000, 6020):
        *arguments, given, options = pools(seed)
        draw = np.random.default_rng(seed)
        given = with_hashes(draw, given)
        options = managed(draw, given, options)
        result = FaultyDisaggregated(*arguments, given, options, 10.0).run()
        content += b"".join(column.tobytes() for column in result.records.values())
    return hashlib.sha256(content).hexdigest()


def test_the_same_numbers_in_other_processes_and_hash_seeds():
    code = "from tests.simulator.test_macro_features import digest; print(digest())"
    command = [sys.executable, "-c", code]
    digests = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {digest()}
