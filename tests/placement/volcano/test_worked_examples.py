"""The worked examples of the specification, section 13."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.queue_shares import QueueShares
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, OpenPlugin, Tiers, Victims

from .worlds import group, node, plugin, pods, queue, renamed, session, tasks_of

ALL_OF_DRF = (("gang",), ("drf", "predicates"))


def asked(made: Session, point: str, name: str, initiator: str, candidates: list[str]) -> list[str]:
    """The candidates that one plugin gives up."""
    tasks = tasks_of(made)
    callbacks = next(each.callbacks for tier in made.tiers.tiers for each in tier if each.option.name == name)
    found = getattr(callbacks, point)(tasks[initiator], [tasks[each] for each in candidates])
    return [task.pod.name for task in found.tasks]


def test_13_1_drf_gives_up_tasks_while_their_job_has_the_larger_share() -> None:
    made = session(
        node("a"),
        group("high"),
        pods("high", 1, on="a", memory="4Gi"),
        group("low"),
        pods("low", 4, on="a", memory="2Gi"),
        renamed("p", pods("high", 1, memory="2Gi")),
        tiers=ALL_OF_DRF,
    )

    assert asked(made, "preemptable", "drf", "p", ["low-0", "low-1", "low-2", "low-3"]) == ["low-0", "low-1"]


def test_13_1_drf_looks_at_the_dominant_resource() -> None:
    made = session(
        node("a"),
        group("high"),
        pods("high", 1, on="a", memory="4Gi"),
        group("low"),
        pods("low", 3, on="a", cpu="300m", memory="10Gi"),
        renamed("p", pods("high", 1, memory="2Gi")),
        tiers=ALL_OF_DRF,
    )

    assert asked(made, "preemptable", "drf", "p", ["low-0", "low-1"]) == ["low-0"]


def _deserved(made: Session) -> dict[str, float]:
    shares = made.accounts["proportion"]
    assert isinstance(shares, QueueShares)
    return {name: account.deserved["cpu"] / 1000 for name, account in shares.by_queue.items()}


PROPORTION = (("gang",), ("predicates", "proportion"))
QUEUES = {
    "a": ({}, 1),
    "b": ({"weight": 3, "capability": {"cpu": "6.5"}}, 10),
    "c": ({}, 5),
}


def _sharing(queues: Mapping[str, tuple[Mapping[str, object], int]]) -> Session:
    objects = [
        each
        for name, (spec, wanted) in queues.items()
        for each in (queue(name, **spec), group(f"job-{name}", queue=name), *pods(f"job-{name}", wanted, memory=""))
    ]
    return session(node("a"), objects, tiers=PROPORTION)


def test_13_2_proportion_fills_queues_by_weight_up_to_their_request_and_capability() -> None:
    assert _deserved(_sharing(QUEUES)) == pytest.approx({"a": 1, "b": 6.5, "c": 2.5})


def test_13_2_proportion_keeps_a_guarantee_free() -> None:
    made = _sharing({**QUEUES, "d": ({"guarantee": {"resource": {"cpu": "2"}}}, 0)})

    assert _deserved(made) == pytest.approx({"a": 1, "b": 5.25, "c": 1.75, "d": 2})


def test_13_2_reclaim_takes_tasks_while_their_queue_has_more_than_it_deserves() -> None:
    made = session(
        node("a"),
        *(queue(name, **spec) for name, (spec, _) in QUEUES.items()),
        group("job-a", queue="a"),
        pods("job-a", 1, memory=""),
        group("job-b", queue="b"),
        pods("job-b", 10, memory=""),
        group("job-c", queue="c"),
        pods("job-c", 4, on="a", memory=""),
        renamed("more", pods("job-c", 1, memory="")),
        tiers=PROPORTION,
    )
    candidates = [f"job-c-{index}" for index in range(4)]

    victims = asked(made, "reclaimable", "proportion", "job-b-0", candidates)

    assert _deserved(made)["c"] == pytest.approx(2.5)
    assert victims == ["job-c-0", "job-c-1"]


@pytest.mark.parametrize(
    ("used_cpu", "used_memory", "gpu", "score"),
    [
        pytest.param("4", "4Gi", False, 708.3333333, id="half-the-cpu-is-used"),
        pytest.param("1", "8Gi", False, 437.5, id="half-the-memory-is-used"),
        pytest.param("4", "4Gi", True, 750, id="six-of-eight-gpus-are-used"),
    ],
)
def test_13_3_binpack(used_cpu: str, used_memory: str, gpu: bool, score: float) -> None:
    arguments: dict[str, object] = {"binpack.weight": 10, "binpack.cpu": 5, "binpack.memory": 1}
    asked: dict[str, str] = {}
    if gpu:
        arguments |= {"binpack.resources": "nvidia.com/gpu", "binpack.resources.nvidia.com/gpu": 2}
        asked = {"nvidia.com/gpu": "1"}
    used = pods("old", 1, on="a", cpu=used_cpu, memory=used_memory)
    new = pods("new", 1, cpu="2", memory="4Gi")
    used[0]["spec"]["containers"][0]["resources"]["requests"] |= {"nvidia.com/gpu": "6"} if gpu else {}
    new[0]["spec"]["containers"][0]["resources"]["requests"] |= asked
    made = session(
        node("a", cpu="8", memory="16Gi", **({"nvidia.com/gpu": "8"} if gpu else {})),
        group("old"),
        used,
        group("new"),
        new,
        tiers=[[plugin("binpack", arguments=arguments)]],
    )

    scores = made.tiers.scores(tasks_of(made)["new-0"], np.ones(1, dtype=bool))

    assert scores.tolist() == pytest.approx([score])


def test_13_4_gang_gives_up_what_is_above_its_minimum() -> None:
    made = session(
        node("a"), group("other"), pods("other", 1), group("job", least=3), pods("job", 5, on="a"), tiers=[["gang"]]
    )

    assert asked(made, "preemptable", "gang", "other-0", [f"job-{index}" for index in range(5)]) == ["job-0", "job-1"]


def test_13_4_a_task_that_leaves_already_counts_no_more() -> None:
    leaving = {"metadata": {"deletionTimestamp": "2026-06-30T12:00:00Z"}}
    job = pods("job", 5, on="a")
    job[4]["metadata"] |= leaving["metadata"]
    made = session(node("a"), group("other"), pods("other", 1), group("job", least=3), job, tiers=[["gang"]])

    assert asked(made, "preemptable", "gang", "other-0", [f"job-{index}" for index in range(4)]) == ["job-0"]


def test_13_4_gang_does_not_look_at_roles() -> None:
    made = session(
        node("a"),
        group("other"),
        pods("other", 1),
        group("job", least=3, minTaskMember={"ps": 1, "worker": 2}),
        pods("job", 1, on="a", role="ps"),
        pods("job", 4, on="a", role="worker"),
        tiers=[["gang"]],
    )

    assert asked(made, "preemptable", "gang", "other-0", ["jobps-0", "jobworker-0", "jobworker-1"]) == [
        "jobps-0",
        "jobworker-0",
    ]


@pytest.mark.parametrize(
    ("tiers", "victims"),
    [
        pytest.param([["ab", "bc"]], "b", id="plugins-of-a-tier-have-to-agree"),
        pytest.param([["a", ""], ["ac"]], "", id="what-has-become-empty-stays-empty-in-later-tiers"),
        pytest.param([["", "a"], ["ac"]], "ac", id="the-next-tier-is-asked-while-all-answers-were-empty"),
        pytest.param([["a", "b", "bc"]], "", id="what-has-become-empty-stays-empty-in-the-same-tier"),
    ],
)
def test_13_5_tiers_as_volcano_1_10_combines_them(tiers: list[list[str]], victims: str) -> None:
    made = session(node("n"), group("job"), pods("job", 3, on="n"))
    tasks = dict(zip("abc", tasks_of(made).values(), strict=True))

    def gives(letters: str) -> OpenPlugin:
        def spare(initiator: Task, candidates: Sequence[Task]) -> Victims:
            del initiator, candidates
            return Victims([tasks[letter] for letter in letters])

        return OpenPlugin(next(iter(made.configuration.plugins)), Callbacks(preemptable=spare))

    combined = Tiers([[gives(letters) for letters in tier] for tier in tiers])

    found = combined.victims("preemptable", tasks["a"], list(tasks.values()))

    assert [letter for letter, task in tasks.items() if task in found] == list(victims)
