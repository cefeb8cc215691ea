"""A verdict in words: the decision, what it means in numbers, why, and what would flip it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pdexplorer.catalog.catalog import Catalog
from pdexplorer.scenario.decision_block import VerdictRule
from pdexplorer.scenario.scenario import Scenario
from pdexplorer.study import headline
from pdexplorer.texts.catalogue import Texts, catalogue
from pdexplorer.texts.chinese_reasons import chinese_reason
from pdexplorer.texts.formats import percent, ratio_text, with_unit
from pdexplorer.verdict import SHOWN, Reason, Verdict, band_of, other_ratio, told_reasons

Answer = Mapping[str, Any]
"""An evaluation as `evaluate --json` writes it."""

Escape = Callable[[str], str]
"""Makes other people's words safe for where the sentence is shown."""


def title(texts: Texts, answer: Answer) -> str:
    """The decision in words; "clearly" from the ratio the scenario calls clear."""
    if unknown(answer):
        return texts.text("verdict.unknown")
    verdict = answer["verdict"]
    key = str(verdict["decision"])
    decisive = verdict.get(verdict.get("decided_by") or "", None)
    clear = answer["scenario"]["verdict"]["clearly_ratio"]
    if key == "disaggregate" and decisive is not None and decisive >= clear:
        key = "disaggregate_clearly"
    return texts.text(f"verdict.{key}")


def sentence(texts: Texts, answer: Answer, whys: Mapping[str, str], escape: Escape = str) -> str:
    """What the decision means in the number that decided it. whys: per fleet that cannot run, the limit. What
    an estimate that cannot decide leans to comes after that it cannot.
    """
    told = _in_its_number(texts, answer, whys, escape)
    if not answer["verdict"]["undecided"]:
        return told
    return texts.text(f"verdict.leans_{answer['verdict']['leaning']}", sentence=told)


def _in_its_number(texts: Texts, answer: Answer, whys: Mapping[str, str], escape: Escape) -> str:
    verdict = answer["verdict"]
    cannot = {fleet for fleet in ("colocated", "disaggregated") if not answer[fleet]["feasible"]}
    if missing := unknown(answer):
        return texts.text("verdict.unknown_why", why=escape(whys.get(missing, "")))
    if len(cannot) == 2:
        why = whys.get("colocated") or whys.get("disaggregated") or ""
        return texts.text("verdict.neither", why=escape(why))
    if "disaggregated" in cannot:
        return texts.text("verdict.only_colocated", why=escape(whys.get("disaggregated", "")))
    if "colocated" in cannot:
        return texts.text("verdict.only_disaggregated", why=escape(whys.get("colocated", "")))
    by = verdict["decided_by"]
    ratio = verdict.get(by) if by else None
    if ratio is None:
        return ""
    shown = ratio_text(ratio)
    if abs(ratio - 1) < 0.005:
        return " ".join([texts.text("verdict.equal", ratio=shown), disagreement(texts, answer)]).rstrip()
    if by == "cost_ratio":
        key, change = (
            ("verdict.cost_less", 1 - 1 / ratio) if ratio > 1 else ("verdict.cost_more", 1 / ratio - 1)
        )
    else:
        stems = {"goodput_per_gpu_ratio": "verdict.gpu", "goodput_ratio": "verdict.whole"}
        stem = stems.get(by, "verdict.goodput")
        key, change = (f"{stem}_more", ratio - 1) if ratio > 1 else (f"{stem}_less", 1 - ratio)
    told = texts.text(key, percent=percent(change), ratio=shown)
    return " ".join([told, disagreement(texts, answer)]).rstrip()


def disagreement(texts: Texts, answer: Answer) -> str:
    """The other ratio, where it falls in another band than the one that decided."""
    verdict = answer["verdict"]
    rule = VerdictRule.model_validate(answer["scenario"]["verdict"])
    other = other_ratio(verdict["decided_by"])
    ratio, decisive = verdict[other], verdict[verdict["decided_by"]]
    if ratio is None or band_of(rule, ratio) == band_of(rule, decisive):
        return ""
    band = texts.text(f"band.{band_of(rule, ratio)}")
    return texts.text(f"verdict.other_{other}", ratio=ratio_text(ratio), band=band)


def unfair(texts: Texts, scenario: Scenario, catalog: Catalog) -> str:
    """That the baseline is not the best on offer: another engine, or no chunked prefill; else empty."""
    told = {key: catalogue(texts.language)[f"verdict.{key}"] for key in headline.UNFAIR}
    return headline.unfair(scenario, catalog.engines, told)


def unknown(answer: Answer) -> str:
    """The fleet that cannot be judged because nobody published a figure it needs; empty where both can."""
    for fleet in ("disaggregated", "colocated"):
        if (answer[fleet].get("infeasible") or {}).get("limit") == "missing_figure":
            return fleet
    return ""


def limits_of(texts: Texts, answer: Answer) -> dict[str, str]:
    """By fleet that cannot run, the limit that stops it."""
    found = {fleet: answer[fleet]["infeasible"] for fleet in ("colocated", "disaggregated")}
    return {fleet: texts.said(str(limit["text"])) for fleet, limit in found.items() if limit is not None}


def because_and_but(texts: Texts, verdict: Verdict, answer: Answer) -> tuple[list[str], list[str]]:
    """The reasons that are told, in words: those on the verdict's side, then what speaks against it. Where no
    cause is on its side, what both fleets come to.
    """
    because, but = told_reasons(verdict)
    said = [reason_said(texts, reason) for reason in because]
    if not said and (numbers := headline.in_numbers(answer, catalogue(texts.language)["verdict.in_numbers"])):
        said = [numbers]
    return said, [reason_said(texts, reason) for reason in but]


def reason_said(texts: Texts, reason: Reason) -> str:
    """One reason in words."""
    chinese = chinese_reason(reason.key, reason.parameters) if texts.language == "zh" else None
    return chinese or reason.text


def nearest_flips(
    texts: Texts, answer: Answer, here: Mapping[str, float], escape: Escape = str
) -> Iterator[tuple[str, str]]:
    """The nearest flips along the sliders, those that lead to one decision together: (what follows, ways).
    here: where the scenario stands, by key.
    """
    nearest = [flip for flip in answer["verdict"]["break_even"] if flip["value"] is not None][:SHOWN]
    found = [
        (str(flip.get("then") or ""), flip_said(texts, answer, flip, here.get(str(flip["key"])), escape))
        for flip in nearest
    ]
    for then in dict.fromkeys(then for then, _ in found):
        ways = texts.text("verdict.or").join(told for to, told in found if to == then)
        decision = texts.text(f"verdict.{then}") if then else ""
        head = texts.text("verdict.flips_to", decision=decision) if then else texts.text("verdict.flips")
        yield head, f"{ways}{texts.text('verdict.end')}"


def flip_said(
    texts: Texts, answer: Answer, flip: Mapping[str, Any], stand: float | None, escape: Escape = str
) -> str:
    """Where the answer is another one: "input tokens below 3,900". stand: the scenario's own value."""
    label = flip_label(texts, str(flip["key"]))
    unit = texts.choice("unit", str(flip["unit"]))
    unit = "" if label.endswith(unit) else unit
    side = flip.get("then_direction") or _side(flip, stand, answer)
    # As words.beyond: two digits of tokens, three of anything else; more would claim what no estimate knows.
    value = float(f"{flip['value']:.{2 if flip['unit'] == 'tokens' else 3}g}")
    gap = " " if texts.language == "zh" and label[-1:].isascii() else ""  # between Latin letters and Chinese
    return texts.text(f"flip.{side}", what=escape(label) + gap, value=escape(with_unit(value, unit)))


def _side(flip: Mapping[str, Any], stand: float | None, answer: Answer) -> str:
    """On which side of the break-even the answer is another one than here."""
    if stand is not None and stand > 0 and flip["value"] > 0:
        return "below" if stand > flip["value"] else "above"
    pays = answer["verdict"]["decision"] != "stay_colocated"
    return "below" if (flip["direction"] == "above") == pays else "above"


def flip_label(texts: Texts, key: str) -> str:
    """A slider's name within a sentence, without its unit."""
    if key.startswith("money.usd_per_hour."):
        return texts.text("flip.price", what=key.rpartition(".")[2])
    try:
        label = texts.text(f"field.{key}")
    except KeyError:
        return key
    label = label.partition(" (")[0].partition("（")[0]
    return label if label[:2].isupper() else label[0].lower() + label[1:]
