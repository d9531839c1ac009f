"""Recorded cases of policy loading: documents that load or not, arguments that are valid or not, and defaults.

Each check takes one vector and returns None when the program agrees with it, else a sentence saying where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.decode import Decoder
from descheduler.documents.problems import PolicyError
from descheduler.documents.source import read_document
from descheduler.policy.effective import args_to_document, policy_to_document
from descheduler.policy.load import inspect_policy
from descheduler.policy.plugin_args import ArgsReader
from descheduler.policy.priority_thresholds import resolve_priority_thresholds

Vector = Mapping[str, Any]

_WITHOUT_EFFECT = ("disabled", "presort", "sort")


def check_decode(vector: Vector) -> str | None:
    """Whether the document loads, whether its plugins can be built, and what the policy is then."""
    expect = vector["expect"]
    expected_loads = expect["loads"] if "loads" in expect else expect["valid"]
    try:
        loaded = inspect_policy(vector["policy_text"], REGISTRY)
        policy = resolve_priority_thresholds(loaded.policy, _priority_class_values(vector))
    except PolicyError as error:
        return f"does not load, but the reference loads it: {error}" if expected_loads else None
    if not expected_loads:
        return f"loads, but the reference says {expect.get('errors_in')}"
    usable = not loaded.profile_problems
    if usable != expect.get("usable", usable):
        return f"usable is {usable}, the reference says {expect['usable']}: {loaded.profile_problems}"
    return _difference(policy_to_document(policy), expect["effective_policy"])


def check_validate(vector: Vector) -> str | None:
    """Whether the arguments, alone and inside a policy, are valid."""
    expected = vector["expect"]["valid"]
    outcomes = {}
    if "args" in vector:
        outcomes["arguments"] = _error_of(lambda: load_args(vector["plugin"], vector["args"]))
    if "policy" in vector:
        outcomes["policy"] = _error_of(lambda: inspect_policy(vector["policy"], REGISTRY))
    for what, error in outcomes.items():
        if (error is None) != expected:
            return f"valid as {what} is {error is None}, the reference says {expected}: {error}"
    return None if outcomes else "has neither arguments nor a policy"


def load_args(plugin: str, source: Mapping[str, object]) -> msgspec.Struct:
    """The validated and defaulted arguments in `source`, outside of any policy. Raises PolicyError."""
    spec = REGISTRY[plugin]
    document = read_document(source, f"<{spec.name}Args>")
    decoder = Decoder(document)
    duplicates: Literal["error", "warning"] = "error" if document.form == "json" or spec.native else "warning"
    args = ArgsReader(decoder, duplicates).read(spec, document.root, ())
    if args is None or decoder.problems:
        raise PolicyError(decoder.problems)
    return args


def check_defaults(vector: Vector) -> str | None:
    """What the arguments are once defaults are filled in."""
    args = load_args(vector["plugin"], vector["args"])
    return _difference(args_to_document(args), vector["expect"]["result"])


def _priority_class_values(vector: Vector) -> dict[str, int]:
    objects = vector.get("objects") or []
    return {item["metadata"]["name"]: item["value"] for item in objects if item["kind"] == "PriorityClass"}


def _error_of(load: Any) -> PolicyError | None:
    try:
        load()
    except PolicyError as error:
        return error
    return None


def _difference(actual: object, expected: object) -> str | None:
    actual, expected = _essence(actual), _essence(expected)
    return None if actual == expected else f"is {actual}, the reference says {expected}"


def _essence(value: object) -> object:
    """`value` without members that say nothing: absent, null, empty, zero and false mean the same to the reference."""
    if isinstance(value, Mapping):
        members = {key: _essence(item) for key, item in value.items() if key not in _WITHOUT_EFFECT}
        return {key: item for key, item in members.items() if item}
    if isinstance(value, list):
        return [_essence(item) for item in value]
    return value
