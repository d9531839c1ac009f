"""Four shards as processes at once against one API server, and what they leave there."""

from __future__ import annotations

import pytest

from tests.builders import node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import asked_for, serve, taint_policy

__all__ = ["cli"]

COUNT = 4
RACKS = tuple(f"bay-{number}" for number in range(12))
PODS = tuple(f"{rack}-{number}" for rack in RACKS for number in range(2))


@pytest.fixture
def racks(fake_api: FakeApi) -> None:
    """In every rack a tainted node with two pods that do not tolerate the taint, and a free node."""
    for rack in RACKS:
        nodes = [
            node_object(f"{rack}-full", labels={"rack": rack}, taints=["gone=soon:NoSchedule"]),
            node_object(f"{rack}-free", labels={"rack": rack}),
        ]
        serve(fake_api, *nodes, *(pod_object(f"{rack}-{number}", node=f"{rack}-full") for number in range(2)))


def run_all(cli: Cli) -> list[tuple[int, str]]:
    """Starts all shards at once and waits for them; exit code and standard output of each."""
    flags = ("--lease-name=d", "--lease-namespace=kube-system", f"--shards={COUNT}", "--shard-by=rack")
    started = [cli.start(*flags, f"--shard-index={index}") for index in range(COUNT)]
    outputs = [process.communicate(timeout=PATIENCE_SECONDS)[0] for process in started]
    return [(process.returncode, output) for process, output in zip(started, outputs, strict=True)]


@pytest.mark.usefixtures("racks")
def test_shards_at_once_evict_every_pod_once(fake_api: FakeApi, cli: Cli) -> None:
    ended = run_all(cli)

    assert [code for code, _ in ended] == [0] * COUNT
    assert asked_for(fake_api) == sorted(PODS)


@pytest.mark.usefixtures("racks")
def test_shards_at_once_stay_within_the_limit_of_all(fake_api: FakeApi, cli: Cli) -> None:
    cli.policy.write_text(taint_policy("maxNoOfPodsToEvictTotal: 5"))

    run_all(cli)

    assert len(asked_for(fake_api)) == 5


@pytest.mark.usefixtures("racks")
def test_each_shard_has_a_lease_and_a_status_of_its_own(fake_api: FakeApi, cli: Cli) -> None:
    run_all(cli)

    names = {f"d-shard-{index}" for index in range(COUNT)}
    assert {name for _, name in fake_api.leases.objects} == names
    assert {name for _, name in fake_api.config_maps.objects} == {f"{name}-status" for name in names}
