"""The policies of `config/`: each is valid, says when to use it, and finds something in a sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.profiles import migration_notes
from descheduler.policy.load import load_policy
from descheduler.report.formats.json_text import json_text
from descheduler.report.plan.making import make_plan
from tests.builders import Object
from tests.cli.commands import Descheduler
from tests.cycle.shipped import CONFIG, decided, own_sample, searches, searching_on_own_sample

SHIPPED = sorted([CONFIG / "policy.yaml", *(CONFIG / "profiles").glob("*.yaml")])
SAMPLES = {
    "balance-load": "shop",
    "dra": "devices",
    "koordinator-gpu": "koordinator",
    "koordinator-repair": "koordinator",
    "low-node-load": "load",
    "node-reservation": "koordinator",
    "pack-nodes": "koordinator",
    "policy": "shop",
    "rotate-long-running": "shop",
    "volcano": "volcano",
}
"""Policy that searches for no plan → the smallest sample for it, of those for which `openb` is not it."""
FOR_OPENB_TOO = {"balance-load", "koordinator-repair", "pack-nodes", "policy", "rotate-long-running"}
"""Those of them that find something in `openb`, too, which is large."""
NOTHING_TO_DO = {
    "plan-make-room": "no sample has a pending pod that lacks room",
    "plan-make-room-koordinator": "the same",
    "plan-defragment": "no sample has devices that are requested whole, as nvidia.com/gpu",
    "plan-reduce-cost": "nodes of no sample differ in price",
}
"""Policy → why no sample is one for it."""
NOTHING_CAN_LEAVE = {
    "plan-drain": "its nodes in the sample have pods with local storage",
    "plan-drain-upgrade": "one of its nodes has a pod without an owner, the other one two pods of three of a workload",
}
"""Policy → what its sample shows instead of evictions."""
FOR_ONE_RUN = [file for file in SHIPPED if file.stem != "low-node-load"]
"""LowNodeLoad acts in the third run in a row; `tests/worlds/test_loaded.py` makes three."""


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_policies_are_valid_and_say_when_to_use_them(descheduler: Descheduler, file: Path) -> None:
    ended = descheduler("validate", file)

    notes = migration_notes(load_policy(file, REGISTRY))
    assert (ended.code, ended.err) == (0, "".join(f"warning: {file}: {note}\n" for note in notes))
    assert "# Use it " in file.read_text()


def in_samples() -> Iterator[Any]:
    """Each policy with its sample; most find something in another one, too, which is large.

    What the policies find that search for a plan, and how long they search, `make test-all` shows.
    """
    for file in FOR_ONE_RUN:
        name = str(file.relative_to(CONFIG))
        own = own_sample(name) if searches(name) else SAMPLES.get(file.stem, "openb")
        rest = pytest.mark.rest if searches(name) else ()
        yield pytest.param(file, own, id=f"{file.stem}-{own}", marks=rest)
        if file.stem in FOR_OPENB_TOO or (searches(name) and "gpus" not in name):
            yield pytest.param(file, "openb", id=f"{file.stem}-openb", marks=pytest.mark.rest)


@pytest.mark.long
@pytest.mark.parametrize(("file", "sample"), list(in_samples()))
def test_shipped_policies_find_something_in_their_sample(descheduler: Descheduler, file: Path, sample: str) -> None:
    dump = CONFIG / "samples" / f"{sample}.jsonl.gz"

    ended = descheduler("run", "--config", file, "--snapshot", dump, "-o", "json")

    assert ended.code == 0
    assert_finds_something(file, json.loads(ended.out))


@pytest.mark.long
@pytest.mark.parametrize(("policy", "sample"), searching_on_own_sample())
def test_shipped_policies_find_something_in_a_short_search(policy: str, sample: str) -> None:
    plan = make_plan(decided(policy, sample))

    assert_finds_something(CONFIG / policy, json.loads(json_text(plan)))


def assert_finds_something(file: Path, plan: Object) -> None:
    if file.stem in NOTHING_TO_DO:
        assert plan["goal"]["status"] == "nothing"
    elif file.stem in NOTHING_CAN_LEAVE:
        assert "cannot be drained: pod" in json.dumps(plan)
    else:
        assert plan["moves"] or _is_found_for_later(plan)
    assert plan["failures"] == []


def _is_found_for_later(plan: dict[str, Any]) -> bool:
    """Whether a plugin has found nodes that it relieves when a later run finds them in the same state."""
    found = [plugin["facts"]["whyNothing"] for plugin in plan["plugins"] if plugin["facts"]]
    return any("in a row" in text for text in [*found, *(refusal["message"] for refusal in plan["refusals"])])
