"""The questions an operator has to answer before splitting, and how engines answer them by default."""

from dataclasses import dataclass

from pdexplorer.study.faults import FaultRow


@dataclass(frozen=True, slots=True)
class ChecklistRow:
    """fault: the key of study.faults that puts a number on it; empty where no replay can. cost: that number
    in words, once known.
    """

    key: str
    question: str
    answer: str
    fault: str = ""
    cost: str = ""


CHECKLIST = (
    ChecklistRow(
        "prefill_dies",
        "Who retries when a prefill instance dies?",
        "The router has to: what was queued or half transferred there is prefilled again elsewhere.",
        "prefill_down",
    ),
    ChecklistRow(
        "decode_dies",
        "Who takes over a stream when its decode instance dies?",
        "Another decode instance after a new prefill of prompt and tokens so far, unless KV is replicated.",
        "decode_down",
    ),
    ChecklistRow(
        "transfer_fails",
        "What happens to a transfer that fails?",
        "Send it once more, then recompute on the decode side; check that KV was received whole.",
        "transfer_failure",
    ),
    ChecklistRow(
        "link_jitter",
        "What do jitter and a slow link do?",
        "They reach TTFT directly; RDMA that falls back to TCP looks like this and has no error message.",
        "slow_link",
    ),
    ChecklistRow(
        "scheduler",
        "Is the scheduler a single point of failure?",
        "Run two, or have instances accept requests without it; arrivals wait while it is away.",
        "router_down",
    ),
    ChecklistRow(
        "drain",
        "How is an instance drained?",
        "Prefill stops taking and empties in seconds; decode streams run out in minutes or migrate.",
    ),
    ChecklistRow(
        "migration",
        "Can a stream migrate between decode instances?",
        "Only with KV transfer between decode instances, at the same cost per token as from prefill.",
    ),
    ChecklistRow(
        "replication",
        "Is KV replicated?",
        "Rarely: it doubles decode memory or needs a store; recomputing a prompt is often cheaper.",
    ),
    ChecklistRow(
        "eviction",
        "Who evicts KV, and when?",
        "Prefill holds a prompt until its transfer ends; a store needs a size, an age and an owner.",
    ),
    ChecklistRow(
        "metadata",
        "Do router, prefill and decode agree on which blocks are where?",
        "Block metadata is stale after each eviction or death: a miss must recompute, never read wrong KV.",
    ),
    ChecklistRow(
        "upgrade",
        "What happens to KV when the model or engine is upgraded?",
        "KV of another version, format or block size is unusable: upgrade both pools together, flush stores.",
    ),
    ChecklistRow(
        "ratio_drift",
        "Who changes the ratio of P to D when traffic changes?",
        "Without a controller one pool idles while the other queues; instances take minutes to change role.",
    ),
)


def checklist(faults: tuple[FaultRow, ...] = ()) -> tuple[ChecklistRow, ...]:
    """The rows, with what each costs in simulated faults where that was replayed."""
    found = {row.key: row for row in faults if row.fleet == "disaggregated"}
    return tuple(
        ChecklistRow(row.key, row.question, row.answer, row.fault, _cost(found[row.fault]))
        if row.fault in found
        else row
        for row in CHECKLIST
    )


def _cost(fault: FaultRow) -> str:
    return (
        f"{fault.lost_fraction:.1%} of requests miss their limits; attainment "
        f"{fault.attainment_before:.1%} → {fault.attainment_after:.1%}."
    )
