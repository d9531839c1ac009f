"""The policies of `config/` on its samples, decided once in a process.

Plans are searched for with little work, and for as long as a busy machine takes: with the limits of the policies, a
search takes up to half a minute, and a slow machine finds another plan.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy

CONFIG = Path(__file__).parents[2] / "config"
POLICIES = ("policy.yaml", *(f"profiles/{path.name}" for path in sorted((CONFIG / "profiles").glob("*.yaml"))))
NOW = {
    "shop": datetime(2026, 1, 15, 12, tzinfo=UTC),
    "load": datetime(2026, 6, 30, 12, tzinfo=UTC),
    "koordinator": datetime(2026, 6, 30, 12, tzinfo=UTC),
    "openb": datetime(2026, 1, 15, 12, tzinfo=UTC),
}
"""When each sample was taken."""


@cache
def policy_of(name: str) -> Policy:
    """A policy of `config/`, with the limits of searches that tests have."""
    return load_policy(briefly_searching(CONFIG / name), REGISTRY)


def briefly_searching(file: Path) -> dict[str, Any]:
    """The document of a policy, with the limits of searches that tests have. It may be written to any folder."""
    document: dict[str, Any] = yaml.safe_load(file.read_text())
    for config in chain.from_iterable(profile["pluginConfig"] for profile in document["profiles"]):
        args = config.get("args", {})
        if REGISTRY[config["name"]].searches:
            args |= {"workLimit": 1, "timeLimit": "600s"}
        if beside := args.get("schedulerConfigFile"):
            args["schedulerConfigFile"] = str((file.parent / beside).resolve())
    return document


def sampled(policy: Policy, sample: str) -> Snapshot:
    """What `policy` reads of a sample."""
    return read_dump([CONFIG / "samples" / f"{sample}.jsonl.gz"], snapshot_request(policy, Landings.ASSESSED))


@cache
def decided(name: str, sample: str) -> Decisions:
    """The plan of a policy of `config/` over a sample."""
    policy = policy_of(name)
    return decide(policy, sampled(policy, sample), now=NOW[sample])


@cache
def searches(name: str) -> bool:
    """Whether some plugin of the policy searches for a plan, which takes long."""
    profiles = policy_of(name).profiles
    return any(REGISTRY[plugin].searches for profile in profiles for plugin in (*profile.deschedule, *profile.balance))


def own_sample(name: str) -> str:
    """The smallest sample in which a policy that searches finds something, if any does."""
    return "koordinator" if "koordinator" in name or "gpus" in name else "shop"


def on_samples(*samples: str) -> list[Any]:
    """Parameters: each policy with each of these samples.

    `make test` takes the policies that search on the samples on which searches are short and on one other, which is
    their own, and of the policies on openb, which is large, one. One worker runs all tests of a plan, which is then
    made once.
    """
    return [pytest.param(name, sample, marks=_marks(name, sample)) for name in POLICIES for sample in samples]


def searching_on_own_sample() -> list[Any]:
    """Parameters: each policy that searches with the sample that is its own."""
    return [
        pytest.param(name, own_sample(name), marks=_marks(name, own_sample(name)))
        for name in POLICIES
        if searches(name)
    ]


def _marks(name: str, sample: str) -> list[pytest.MarkDecorator]:
    group = pytest.mark.xdist_group(f"{name} on {sample}")
    return [group] if _is_taken(name, sample) else [group, pytest.mark.rest]


def _is_taken(name: str, sample: str) -> bool:
    if sample == "openb":
        return name == "policy.yaml"
    return sample in ("load", own_sample(name)) or not searches(name)
