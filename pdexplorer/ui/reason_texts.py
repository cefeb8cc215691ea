"""The reasons behind a verdict as the page shows them: at most three, those on its side first."""

from pdexplorer.texts.chinese_reasons import chinese_reason
from pdexplorer.ui.texts import language
from pdexplorer.verdict import Reason, Verdict

SHOWN = 3
_TINY = 0.02
"""A reason that moves less than this share of time or money is not worth a sentence."""


def because_and_but(verdict: Verdict) -> tuple[list[str], list[str]]:
    """At most three reasons in words: those on the verdict's side, then at most one against it.

    A verdict for neither side, benchmark first, has those for splitting first. Where one fleet cannot run
    the verdict's own sentence gives the reason.
    """
    if verdict.decided_by == "feasibility":
        return [], []
    wanted = "colocated" if verdict.decision == "stay_colocated" else "disaggregated"
    heavy = [reason for reason in verdict.reasons if reason.weight >= _TINY]
    ours = [reason for reason in heavy if reason.favours in (wanted, None)]
    against = [reason for reason in heavy if reason.favours not in (wanted, None)][:1]
    return [said(reason) for reason in ours[: SHOWN - len(against)]], [said(reason) for reason in against]


def said(reason: Reason) -> str:
    """One reason in the visitor's language."""
    chinese = chinese_reason(reason.key, reason.parameters) if language() == "zh" else None
    return chinese or reason.text
