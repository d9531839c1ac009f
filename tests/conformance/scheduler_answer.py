"""What a scheduler says of one pod, in the form in which recorded and computed answers are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.conformance.device_answers import Allocated, recorded_allocations, recorded_bound_claims

Names = tuple[str, ...]

Differences = Mapping[str, str | None]
"""Aspect → how an answer departs from another, None where the two agree; only aspects that arise."""

ASPECTS = (
    "refused",
    "messages",
    "narrowed",
    "feasible",
    "rejected",
    "reported",
    "reasons",
    "scores",
    "raw",
    "totals",
    "best",
    "aborted",
    "allocations",
    "bound",
    "binds",
)
"""What is compared, in the order in which a difference is worth telling: the later ones follow from the earlier."""

INFORMATIVE = frozenset({"messages"})
"""Aspects in which a difference is told but is no failure: sentences that quote names of objects."""

_NORMALISING = ("TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "DynamicResources")
_ERROR = "Error"


@dataclass(frozen=True, slots=True)
class Answer:
    """One field an aspect; None where the question does not arise, such as scores without a feasible node.

    `rejected` are the plugins against a node in running order, `reported` the one that a real run names. Scores are
    keyed `plugin node` and those of 0 are left out; a pod that cannot be scored has `scores` without entries. Where the
    reference gave different reasons from run to run, `reasons_in` has all of them by node: each is as right as another.
    `aborted` are the nodes whose error ends the attempt, and those that pass alone. Of devices `allocations` are those
    that the pod would get by node, `bound` those that it got, and `binds` says that binding does not fail.
    """

    feasible: Names
    refused: tuple[Names, ...] | None = None
    messages: Names | None = None
    narrowed: Names | None = None
    rejected: Mapping[str, Names] | None = None
    reported: Mapping[str, str] | None = None
    reasons: Mapping[str, tuple[Names, ...]] | None = None
    scores: Mapping[str, int] | None = None
    raw: Mapping[str, int] | None = None
    totals: Mapping[str, int] | None = None
    best: Names | None = None
    aborted: tuple[Names, Names] | None = None
    allocations: Mapping[str, tuple[Allocated, ...]] | None = None
    bound: tuple[Allocated, ...] | None = None
    binds: bool | None = None
    reasons_in: Mapping[str, Sequence[tuple[Names, ...]]] | None = None


def recorded_answer(entry: Mapping[str, Any]) -> Answer:
    """The answer that one entry of a case's `expect` stands for."""
    feasible = tuple(entry["feasible"])
    refusals = [entry["preenqueue"]] if "preenqueue" in entry else entry.get("prefilter")
    if refusals:
        return Answer(feasible, refused=tuple((r[0], r[1]) for r in refusals), messages=_sentences(refusals))
    reported = entry.get("first_failure", {})
    rejected = entry.get("rejected", {})
    scored = entry.get("scores")
    unscored: dict[str, int] | None = {} if "score_error" in entry else None
    scores, raw = normalised_scores(feasible, scored, entry.get("raw", {})) if scored is not None else (unscored, None)
    return Answer(
        feasible,
        messages=(entry["score_error"],) if "score_error" in entry else None,
        narrowed=_names(entry.get("prefilter_nodes")),
        rejected={node: tuple(against[0] for against in entries) for node, entries in rejected.items()} or None,
        reported={node: reported.get(node, entries[0][0]) for node, entries in rejected.items()} or None,
        reasons={node: tuple(map(comparable_entry, entries)) for node, entries in rejected.items()} or None,
        scores=scores,
        raw=raw,
        totals=dict(zip(feasible, entry["totals"], strict=True)) if scored is not None else None,
        best=tuple(entry.get("best", ())) if feasible else None,
        aborted=(tuple(entry["aborted_by"]), tuple(entry.get("passes", ()))) if "aborted_by" in entry else None,
        allocations=recorded_allocations(entry) or None,
        bound=recorded_bound_claims(entry),
        binds=False if "bind_error" in entry else None,
        reasons_in={
            node: [tuple(map(tuple, entries)) for entries in seen]
            for node, seen in entry.get("rejected_in", {}).items()
        },
    )


def comparable_entry(entry: Sequence[str]) -> Names:
    """An obstacle as it is compared: the text of an error names one device of many."""
    return tuple(entry[:2]) if entry[1] == _ERROR else tuple(entry)


def normalised_scores(
    nodes: Names, scores: Mapping[str, int | Sequence[int]], raw: Mapping[str, int | Sequence[int]]
) -> tuple[dict[str, int], dict[str, int]]:
    """Final and raw scores as `Answer` keeps them, from values a plugin: one a node, or one for all nodes.

    Raw scores count only of plugins that normalise them, and only where the outcome is not 0 on all nodes.
    """
    final = _by_plugin_and_node(nodes, scores)
    plugins = {key.partition(" ")[0] for key in final}
    return final, _by_plugin_and_node(nodes, {name: raw[name] for name in _NORMALISING if name in plugins & raw.keys()})


def differences_of(want: Answer, got: Answer) -> Differences:
    """How `got` departs from `want`, aspect by aspect."""
    if want.reasons and got.reasons and want.reasons_in:
        given = {node: got.reasons[node] for node, seen in want.reasons_in.items() if got.reasons.get(node) in seen}
        want = replace(want, reasons={**want.reasons, **given})
    pairs = ((aspect, getattr(want, aspect), getattr(got, aspect)) for aspect in ASPECTS)
    return {
        aspect: _difference(wanted, given) for aspect, wanted, given in pairs if wanted is not None or given is not None
    }


def _difference(want: object, got: object) -> str | None:
    if want == got:
        return None
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        keys = sorted(key for key in {*want, *got} if want.get(key) != got.get(key))
        others = f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""
        return f"{keys[0]}: expected {want.get(keys[0], 'nothing')}, got {got.get(keys[0], 'nothing')}{others}"
    if isinstance(want, tuple) and isinstance(got, tuple) and {*want} != {*got}:
        return f"missing {sorted({*want} - {*got})}, too many {sorted({*got} - {*want})}"
    return f"expected {want}, got {got}"


def _by_plugin_and_node(nodes: Names, values: Mapping[str, int | Sequence[int]]) -> dict[str, int]:
    return {
        f"{plugin} {node}": value
        for plugin, given in values.items()
        for node, value in zip(nodes, [given] * len(nodes) if isinstance(given, int) else given, strict=True)
        if value
    }


def _sentences(entries: Sequence[Sequence[str]]) -> Names:
    return tuple(f"{plugin}: {'; '.join(reasons)}" for plugin, _, *reasons in entries)


def _names(names: Sequence[str] | None) -> Names | None:
    return None if names is None else tuple(names)
