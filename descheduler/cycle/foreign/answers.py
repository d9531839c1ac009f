"""What plugins answer that are not of this program: each checked as it comes in. All raise WrongAnswer."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeVar, cast

import msgspec
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, Verdict
from descheduler.plan.facts import PluginFacts
from descheduler.plan.goals import BlockedNode, Goal, UnscheduledPod
from descheduler.policy.plugin_faults import WrongAnswer, is_of, text_of

Kind = TypeVar("Kind", PluginFacts, Goal)

_MOST_NOTE_BYTES = 100_000
_MOST_ENTRIES = 1_000
"""Entries of a mapping or a list of facts."""


def nothing(answer: object) -> None:
    """An answer of a plugin that is not read."""


def checked_verdict(answer: object) -> Verdict:
    """A verdict on one pod."""
    verdict = is_of(answer, Verdict, "the verdict")
    if verdict.reason is not None:
        is_of(verdict.reason, Reason, "the reason of the verdict")
    message, subject = text_of(verdict.message, "the message"), text_of(verdict.subject, "the subject")
    is_of_evictor = verdict.reached is not None or verdict.api_refusal is not None
    if message is not verdict.message or subject is not verdict.subject or is_of_evictor:
        return Verdict(verdict.reason, message, subject)  # limits and answers of the API are the evictor's
    return verdict


def checked_facts(answer: object) -> PluginFacts:
    """What a plugin saw."""
    facts = is_of(answer, PluginFacts, "facts()")
    goals = tuple([_checked_goal(goal) for goal in is_of(facts.goals, tuple, "goals of facts()")])
    return replace(_converted(replace(facts, goals=()), PluginFacts), goals=goals)


def _checked_goal(answer: object) -> Goal:
    goal = is_of(answer, Goal, "a goal of facts()")
    pending = is_of(goal.pending_pods, tuple, "pending_pods of a goal")
    for each in pending:
        is_of(each, UnscheduledPod, "a pending pod of a goal")
        text_of(each.node, "the node of a pending pod")
    blocked = tuple([_checked_blocked(each) for each in is_of(goal.blocked_nodes, tuple, "blocked_nodes of a goal")])
    plain = _converted(replace(goal, pending_pods=(), blocked_nodes=()), Goal)
    return replace(plain, pending_pods=pending, blocked_nodes=blocked)


def _checked_blocked(answer: object) -> BlockedNode:
    blocked = is_of(answer, BlockedNode, "a blocked node of a goal")
    node, cause = text_of(blocked.node, "the name of a blocked node"), text_of(blocked.cause, "what blocks a node")
    if blocked.pod is not None:
        is_of(blocked.pod, Pod, "the pod that blocks a node")
    return BlockedNode(node, cause, blocked.pod, checked_verdict(blocked.verdict))


_decoders: Mapping[type, msgspec.json.Decoder[Any]] = {kind: msgspec.json.Decoder(kind) for kind in (PluginFacts, Goal)}
"""Made once: threads must not have a type looked into at the same time."""


def _converted(answer: Kind, kind: type[Kind]) -> Kind:
    try:
        found = _decoders[kind].decode(msgspec.json.encode(_clean(msgspec.to_builtins(answer))))
    except (msgspec.ValidationError, TypeError) as error:
        raise WrongAnswer(
            f"facts() is not a valid {kind.__name__}: {text_of(str(error), 'the text of an error')}"
        ) from None
    return cast("Kind", found)


def _clean(value: object) -> object:
    """Texts cut off, and no number that no document can hold."""
    if isinstance(value, str):
        return text_of(value, "a text of facts()")
    if isinstance(value, float) and not isfinite(value):
        raise WrongAnswer(f"a number of facts() is {value}")
    if isinstance(value, (Mapping, list, tuple)) and len(value) > _MOST_ENTRIES:
        raise WrongAnswer(f"facts() has more than {_MOST_ENTRIES:,} entries")
    if isinstance(value, Mapping):
        return {text_of(key, "a key of facts()"): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, (list, tuple)) else value


def checked_note(answer: object) -> bytes:
    """What a plugin leaves for its next run."""
    note = is_of(answer, bytes, "note()")
    if len(note) > _MOST_NOTE_BYTES:
        raise WrongAnswer(f"note() is longer than {_MOST_NOTE_BYTES:,} bytes")
    try:
        msgspec.json.decode(note or b"null")
    except (msgspec.DecodeError, RecursionError):
        raise WrongAnswer("note() is not JSON") from None
    return note
