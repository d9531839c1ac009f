"""The part of documents about what a plugin saw, and the words for a plugin that evicts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descheduler.documents.fields import Fields
from descheduler.model.text.counted import counted
from descheduler.plan import facts as plan_facts
from descheduler.plan.decisions import BACKGROUND, SUCCESS, Decisions
from descheduler.plan.facts import NearestValue, NodeClasses


class ReportedFacts(Fields, frozen=True):
    """What the plugin examined.

    `why_nothing` is the sentence that says why it evicts nothing, empty when it evicts something. `stopped` is the line
    that kubernetes-sigs/descheduler logs when a condition ends the plugin before it examines a pod, else empty. Each of
    the `pods_examined` is in `pods_selected`, or left out by the first rule that it does not meet: `left_out` counts by
    the rule's key in the policy, or the field of the pod's spec that decides. `counts` are of other things that the
    plugin examines, such as `constraints`; `nodes` is null for a plugin that does not compare the load of nodes.
    """

    why_nothing: str
    stopped: str
    pods_examined: int
    pods_selected: int
    left_out: Mapping[str, int]
    nearest: tuple[NearestValue, ...]
    nodes: NodeClasses | None
    counts: Mapping[str, int]


def facts_of(decisions: Decisions, profile: str, plugin: str, refused: Mapping[str, int]) -> ReportedFacts | None:
    """What a plugin saw that has `refused` pods by reason code; None where it told nothing."""
    facts = decisions.facts.get((profile, plugin))
    if facts is None:
        return None
    answers = {answer: n for (name, of, answer), n in decisions.results.items() if (name, of) == (profile, plugin)}
    num_granted = answers.get(SUCCESS, 0)
    if answers.get(BACKGROUND) or (num_granted and _evicts(decisions, profile, plugin)):
        return _document(facts, "")
    blocked = [f"{number:,} blocked by {code}" for code, number in refused.items()]
    unnamed = [] if blocked else sorted(answers.keys() - {SUCCESS})
    # A pod that was refused to an earlier plugin for the same reason is counted there.
    num_elsewhere = facts.pods_selected - sum(refused.values()) - num_granted if refused else 0
    causes = [
        *blocked,
        *([f"blocked by {', '.join(unnamed)}"] if unnamed else []),
        *([f"{num_granted:,} evicted by another plugin"] if num_granted else []),
        *([f"{num_elsewhere:,} blocked before for another plugin"] if num_elsewhere > 0 else []),
    ]
    return _document(facts, facts.why_nothing or _all_stay(max(facts.pods_selected, sum(refused.values())), causes))


def _evicts(decisions: Decisions, profile: str, plugin: str) -> bool:
    """Whether some request of the plugin was not for a pod that an earlier one evicts already."""
    moves = (move for move in decisions.moves if not move.is_repeated)
    return any(move.profile == profile and move.plugin == plugin for move in moves)


def _document(facts: plan_facts.PluginFacts, why_nothing: str) -> ReportedFacts:
    return ReportedFacts(
        why_nothing=why_nothing,
        stopped=facts.stopped,
        pods_examined=facts.pods_examined,
        pods_selected=facts.pods_selected,
        left_out=facts.left_out,
        nearest=facts.nearest,
        nodes=facts.nodes,
        counts=facts.counts,
    )


def _all_stay(num_selected: int, causes: Sequence[str]) -> str:
    """Of a plugin that selects pods, none of which it evicts."""
    selected = f"{counted(num_selected, 'pod')} selected, none evicted"
    return f"{selected}: {', '.join(causes)}" if causes else selected
