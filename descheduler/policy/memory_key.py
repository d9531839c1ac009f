"""Under which name a plugin of a policy finds what its last run left, beside the notes of other policies."""

from __future__ import annotations

import hashlib

import msgspec

from descheduler.policy.types import Policy, Profile

_DIGEST_LENGTH = 12


def memory_key(policy: Policy, profile: Profile, plugin: str) -> str:
    """`profile/plugin/digest`. The digest is of what the plugin's memory depends on: its arguments, and the nodes that
    it is given. The same after other parts of the policy have been edited.

    Two policies may name their profiles alike and keep their memory in one place.
    """
    facts = (policy.node_selector_spec, profile.node_selector_spec, profile.args[plugin])
    text = msgspec.json.encode(facts, enc_hook=repr, order="deterministic")
    return f"{profile.name}/{plugin}/{hashlib.sha256(text).hexdigest()[:_DIGEST_LENGTH]}"
