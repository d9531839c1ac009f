"""Jobs and queues of Volcano as its next session finds them, and how tables show them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cmp_to_key

import msgspec

from descheduler.documents.fields import Fields
from descheduler.model.groups.volcano import JOB_ENDS, JOB_RESTARTS, POD_EVICTED, VolcanoJob
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.requests import PODS
from descheduler.model.text.amounts import amount_text
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.schedulers.volcano import VOLCANO
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.admission import job_barrier
from descheduler.placement.volcano.jobs import Job, Phase, Queue, Status, Task
from descheduler.placement.volcano.live_session import job_id_of
from descheduler.placement.volcano.plugins.drf import DominantShares
from descheduler.placement.volcano.plugins.queue_shares import QueueShare, QueueShares
from descheduler.placement.volcano.resources import NOTHING, named, whole_units
from descheduler.placement.volcano.scheduler import VolcanoScheduler
from descheduler.placement.volcano.session import Session
from descheduler.report.tables.table_style import TableStyle


class QueueResource(Fields, frozen=True):
    """One resource of a queue: cpu in milli cores, all else in whole units.

    `deserved` is what the queue deserves by the plugin that shares the cluster out, null without one. `capability` is
    the most that it may hold, null where that is not limited. `allocated` is what its tasks hold that have a node,
    `requested` what all of its tasks ask for, and `inqueue` what its admitted jobs still wait for.
    """

    resource: str
    guarantee: int
    deserved: int | None
    capability: int | None
    allocated: int
    requested: int
    inqueue: int


class QueueFacts(Fields, frozen=True):
    """A queue of Volcano. `plugin` is the one that shares the cluster out between queues, in tier `tier` (from 1 on);
    empty and null where none does, or where no PodGroup names the queue.

    `share` is the largest part that the queue holds of what it deserves; null without a plugin. An `overused` queue
    gets nothing more. `parent` is the queue above it, `hierarchy` its path for the plugin drf; both may be empty.
    """

    name: str
    state: str
    weight: int
    priority: int
    is_reclaimable: bool = msgspec.field(name="reclaimable")
    parent: str
    hierarchy: str
    plugin: str
    tier: int | None
    share: float | None
    is_overused: bool = msgspec.field(name="overused")
    resources: tuple[QueueResource, ...]


class RoleFacts(Fields, frozen=True):
    """One task of a job (`volcano.sh/task-spec`): how many of its pods have a node or have succeeded, and how many it
    needs (minTaskMember)."""

    name: str
    num_ready: int = msgspec.field(name="ready")
    minimum: int


class VolcanoJobFacts(Fields, frozen=True):
    """A job of Volcano: a PodGroup and its pods.

    It needs `min_available` of its pods. `ready` pods have a node or have succeeded, `after_eviction` are left of them
    once one is evicted: the fewest, where a policy of its Job restarts or ends more than the pod. `on_evicted` lists
    the policies for the event `PodEvicted`, as `RestartJob` or by task. `pending` pods have no node. `phase` is that of
    the PodGroup. `admitted` is set where the next session tries its pods. `dominant_share` is the largest part of a
    resource of the cluster that it holds (plugin drf), null without that plugin. `message` says what keeps its pending
    pods from being tried, with the plugin and its tier; it is empty where nothing does.
    """

    name: str
    queue: str
    phase: str
    priority: int
    min_available: int
    num_ready: int = msgspec.field(name="ready")
    num_left: int = msgspec.field(name="afterEviction")
    on_evicted: str
    num_pending: int = msgspec.field(name="pending")
    is_admitted: bool = msgspec.field(name="admitted")
    dominant_share: float | None
    tasks: tuple[RoleFacts, ...]
    message: str


class VolcanoFacts(Fields, frozen=True):
    """The jobs of Volcano that pods belong to, and the queues of these jobs."""

    jobs: tuple[VolcanoJobFacts, ...]
    queues: tuple[QueueFacts, ...]


class OpenedSession:
    """The next session of Volcano over a cluster, in which no pod is asked about."""

    def __init__(self, session: Session, scheduler: VolcanoScheduler) -> None:
        self.session = session
        self.scheduler = scheduler

    @classmethod
    def of(cls, cluster: ShadowCluster, configuration: SchedulerConfiguration) -> OpenedSession | None:
        """The session over `cluster`; None where nothing of Volcano was read."""
        scheduler = Schedulers(cluster, configuration, plugins=PLUGINS).of_another_kind(VOLCANO)
        return cls(scheduler.opened(), scheduler) if isinstance(scheduler, VolcanoScheduler) else None

    def jobs_in(self, queue: str) -> list[Job]:
        """The jobs of a queue, in the order in which they are tried."""
        found = [job for job in self.session.jobs.values() if job.queue == queue]
        return sorted(found, key=cmp_to_key(self._compare))

    def _compare(self, left: Job, right: Job) -> int:
        return -1 if self.session.tiers.job_is_less(left, right) else 1

    def sharing(self) -> tuple[str, int | None, QueueShares | None]:
        """The plugin that shares the cluster out between queues, its tier, and its accounts."""
        for number, tier in enumerate(self.session.configuration.tiers, start=1):
            for option in tier:
                shares = self.session.accounts.get(option.name)
                if isinstance(shares, QueueShares):
                    return option.name, number, shares
        return "", None, None

    def account_of(self, queue: str) -> QueueShare | None:
        """The account of a queue; None where no plugin keeps one."""
        shares = self.sharing()[2]
        return None if shares is None else shares.by_queue.get(queue)

    def queue_facts(self, name: str) -> QueueFacts:
        """What is known of the queue called `name`, which exists."""
        queue, account = self.session.queues[name], self.account_of(name)
        plugin, tier, _ = ("", None, None) if account is None else self.sharing()
        return QueueFacts(
            name=name,
            state=queue.queue.state,
            weight=queue.weight,
            priority=queue.priority,
            is_reclaimable=queue.is_reclaimable,
            parent=queue.queue.parent,
            hierarchy=queue.queue.annotations.get("volcano.sh/hierarchy", ""),
            plugin=plugin,
            tier=tier,
            share=None if account is None else round(account.share, 4),
            is_overused=account is not None and self.session.tiers.any_of("overused", queue),
            resources=tuple(_resource(queue, account, name) for name in _resources(queue, account)),
        )

    def _actions(self, job: Job) -> dict[str, str]:
        """What the controller of `job` does when a pod is evicted, by the task of the pod; empty for nothing more."""
        workloads = self.session.cluster.snapshot.workloads
        found: dict[str, str] = {}
        for task in sorted(job.tasks.values(), key=lambda task: task.role):
            owner = task.pod.controller
            known = None if owner is None else workloads.get(owner.uid)
            found[task.role] = known.action_on(POD_EVICTED, task.role) if isinstance(known, VolcanoJob) else ""
        return found

    def job_facts(self, job: Job) -> VolcanoJobFacts:
        """What is known of `job`."""
        pending = list(job.of_status(Status.PENDING))
        barrier = job_barrier(self.session, job, _first(pending)) if pending or job.is_pending else None
        ready, shares = job.num_by_role(), self.session.accounts.get("drf")
        actions = self._actions(job)
        return VolcanoJobFacts(
            name=job.id,
            queue=job.queue,
            phase=job.group.phase or Phase.PENDING.value,
            priority=job.priority,
            min_available=job.min_available,
            num_ready=job.num_ready,
            num_left=min((_left(job, ready, role, action) for role, action in actions.items()), default=0),
            on_evicted=_policies(actions),
            num_pending=len(pending),
            is_admitted=not job.is_pending,
            dominant_share=round(shares.of(job), 4) if isinstance(shares, DominantShares) else None,
            tasks=tuple(
                RoleFacts(name=role, num_ready=ready[role], minimum=least) for role, least in job.role_minimums.items()
            ),
            message=self.session.fault or ("" if barrier is None else ", ".join(barrier.reasons)),
        )


def _left(job: Job, ready: Mapping[str, int], role: str, action: str) -> int:
    """How many of its pods that have a node or have succeeded are left once a pod of `role` is evicted."""
    if action in JOB_ENDS or action == "RestartJob":
        return 0
    return max(0, job.num_ready - (ready[role] if action in JOB_RESTARTS else 1))


def _policies(actions: Mapping[str, str]) -> str:
    """The one action of all tasks, or each task with its own; empty where there is no policy."""
    if len(set(actions.values())) == 1:
        return next(iter(actions.values()))
    return ", ".join(f"{role or 'other pods'}: {action or 'none'}" for role, action in actions.items())


def volcano_facts(
    pods: Iterable[Pod], cluster: ShadowCluster, configuration: SchedulerConfiguration
) -> VolcanoFacts | None:
    """What Volcano knows of the jobs of `pods`; None where it schedules none of them, or none of its jobs exists."""
    own = [pod for pod in pods if scheduler_name_of(pod) == VOLCANO]
    opened = OpenedSession.of(cluster, configuration) if own else None
    found = {} if opened is None else {job_id_of(pod): opened.session.jobs.get(job_id_of(pod)) for pod in own}
    jobs = [job for job in found.values() if job is not None]
    if opened is None or not jobs:
        return None
    return VolcanoFacts(
        jobs=tuple(map(opened.job_facts, jobs)),
        queues=tuple(map(opened.queue_facts, dict.fromkeys(job.queue for job in jobs))),
    )


def _first(pending: Sequence[Task]) -> Task | None:
    """The first task that asks for room; queues do not limit those that ask for nothing."""
    return next((task for task in pending if not (task.is_best_effort or task.is_gated)), None)


def _resources(queue: Queue, account: QueueShare | None) -> list[str]:
    """cpu and memory, then by name what else is stated of the queue or asked for in it; pods where they are stated."""
    stated = {*queue.capability, *queue.guarantee, *queue.deserved}
    asked = set() if account is None else {*named(account.request), *named(account.allocated)} - {PODS}
    return [*NOTHING, *sorted((stated | asked) - NOTHING.keys())]


def _resource(queue: Queue, account: QueueShare | None, name: str) -> QueueResource:
    guarantee = whole_units(name, queue.guarantee.get(name, 0.0))
    if account is None:
        return QueueResource(name, guarantee, None, None, 0, 0, 0)
    most = account.capability.get(name, math.inf)
    return QueueResource(
        resource=name,
        guarantee=guarantee,
        deserved=whole_units(name, account.deserved.get(name, 0.0)),
        capability=None if math.isinf(most) else whole_units(name, most),
        allocated=whole_units(name, account.allocated.get(name, 0.0)),
        requested=whole_units(name, account.request.get(name, 0.0)),
        inqueue=whole_units(name, account.inqueue.get(name, 0.0)),
    )


QUEUE_HEADER = ["RESOURCE", "GUARANTEE", "DESERVED", "CAPABILITY", "ALLOCATED", "REQUESTED", "INQUEUE"]


def queue_amounts(each: QueueResource) -> list[str]:
    """The cells below `QUEUE_HEADER`."""
    name = each.resource
    return [
        name,
        amount_text(name, each.guarantee),
        "" if each.deserved is None else amount_text(name, each.deserved),
        "unlimited" if each.capability is None else amount_text(name, each.capability),
        *(amount_text(name, amount) for amount in (each.allocated, each.requested, each.inqueue)),
    ]


def volcano_tables(facts: VolcanoFacts | None, style: TableStyle) -> Iterator[str]:
    """The jobs, and a row for each of their queues and its resources."""
    if facts is None:
        return
    yield from job_table(facts.jobs, style)
    rows = [
        [queue.name, *queue_amounts(each), share_text(queue.share), yes_or_no(queue.is_overused)]
        for queue in facts.queues
        for each in queue.resources
    ]
    yield from style.table(["QUEUE", *QUEUE_HEADER, "SHARE", "OVERUSED"], rows)


def job_table(jobs: Sequence[VolcanoJobFacts], style: TableStyle) -> Iterator[str]:
    """A row a job, then one for each of its tasks, and what keeps its pending pods from being tried."""
    yield from style.table(
        [
            "JOB",
            "QUEUE",
            "PHASE",
            "PRIORITY",
            "MINMEMBER",
            "READY",
            "AFTER EVICTION",
            "PENDING",
            "ADMITTED",
            "DRF SHARE",
        ],
        [_row(job) for job in jobs],
    )
    yield from style.table(
        ["JOB", "TASK", "MINTASKMEMBER", "READY", "AFTER EVICTION"],
        [
            [job.name, task.name, str(task.minimum), str(task.num_ready), str(max(0, task.num_ready - 1))]
            for job in jobs
            for task in job.tasks
        ],
    )
    yield from style.table(
        ["JOB", "POLICY FOR PodEvicted"], [[job.name, job.on_evicted] for job in jobs if job.on_evicted]
    )
    yield from style.table(["JOB", "REASON"], [[job.name, job.message] for job in jobs if job.message])


def _row(job: VolcanoJobFacts) -> list[str]:
    return [
        job.name,
        job.queue,
        job.phase,
        str(job.priority),
        str(job.min_available),
        str(job.num_ready),
        str(job.num_left),
        str(job.num_pending),
        yes_or_no(job.is_admitted),
        share_text(job.dominant_share),
    ]


def share_text(share: float | None) -> str:
    """A share, empty for none."""
    return "" if share is None else f"{share:g}"


def yes_or_no(value: bool) -> str:
    """The word for `value`."""
    return "yes" if value else "no"
