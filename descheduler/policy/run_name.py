"""One name for all runs of one policy, which has none of its own: the names of its profiles, as an object's name."""

from __future__ import annotations

import hashlib
import re

from descheduler.policy.types import Policy

_PREFIX = "descheduler"
_MAX_LENGTH = 63
"""Of a DNS label, the shortest of the limits that names in a cluster have."""
_DIGEST_LENGTH = 8


def run_name(policy: Policy) -> str:
    """`descheduler-` and the names of the profiles. The same after other parts of the policy have been edited.

    A digest takes the place of what a name in the cluster cannot hold. Policies whose profiles have the same names get
    the same name, and so keep each other from running at the same time; that is the safe mistake.
    """
    spelled = "-".join(profile.name for profile in policy.profiles)
    slug = re.sub(r"[^a-z0-9]+", "-", spelled.lower()).strip("-")
    name = f"{_PREFIX}-{slug}".rstrip("-")
    if slug == spelled and len(name) <= _MAX_LENGTH:
        return name
    digest = hashlib.sha256(spelled.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{name[: _MAX_LENGTH - _DIGEST_LENGTH - 1].rstrip('-')}-{digest}"
