"""A session that keeps in step with the shadow cluster: each question opens a cycle of Volcano, as it would be then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import NamedTuple

from descheduler.model.groups.volcano import GROUP_NAME_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.placement.configuration.volcano import VolcanoConfiguration
from descheduler.placement.framework.scheduler_model import EvictedFor
from descheduler.placement.shadow.placement_class import PlacementClass, PlacementForms
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Company, ShadowCluster
from descheduler.placement.volcano.actions import enqueue, preempt, reclaim
from descheduler.placement.volcano.jobs import Job, Phase, Status, Task, status_of
from descheduler.placement.volcano.session import Session, VolcanoPlugin

_NAME = "volcano"
_OF_JOBS = frozenset(
    {
        "priority",
        "gang",
        "conformance",
        "overcommit",
        "drf",
        "predicates",
        "proportion",
        "capacity",
        "nodeorder",
        "binpack",
        "pdb",
        "sla",
    }
)
"""Plugins that begin a cycle with what jobs hold, and look at nodes later, or where jobs are admitted."""
_GANG = "gang"
"""The plugin that marks jobs with too few tasks when a cycle ends."""
_SETTLED = frozenset({Phase.RUNNING.value, Phase.UNKNOWN.value, Phase.COMPLETED.value})


class _Evicting(NamedTuple):
    """An action that evicts, and what it does to pods."""

    act: Callable[[Session, Job | None], None]
    what: str


_EVICTING: Mapping[str, _Evicting] = MappingProxyType(
    {"preempt": _Evicting(preempt, "preempted"), "reclaim": _Evicting(reclaim, "reclaimed")}
)


def job_id_of(pod: Pod) -> str:
    """The job of a pod: that of its annotation, else the PodGroup that Volcano creates for pods of its owner."""
    group = pod.annotations.get(GROUP_NAME_ANNOTATION, "")
    owner = pod.controller
    return f"{pod.namespace}/{group or f'podgroup-{pod.uid if owner is None else owner.uid}'}"


class AskedTask(NamedTuple):
    """A pending task, and the cycle that tries it."""

    session: Session
    task: Task

    @property
    def job(self) -> Job | None:
        """Its job, if there is one."""
        return self.session.jobs.get(self.task.job)


def _together(pod: Pod, company: Company) -> list[Pod]:
    """`pod`, and the others of `company` that are not placed."""
    held = set(map(id, company.held))
    return [pod, *(other for other in company.pods if other is not pod and id(other) not in held)]


def _phase(job: Job, before: str, *, is_marked: bool) -> str:
    """The phase of a job by the end of the cycle before this one; `is_marked` where one with too few tasks is.

    One that has lost too many tasks has to be admitted again, unless it is marked and others of its tasks run.
    """
    if before not in _SETTLED:
        return before
    job.phase, job.is_unschedulable = before, is_marked and not job.is_ready
    return job.phase_after()


class LiveSession:
    """A follower: the tasks, jobs and nodes of a session are those of the cluster at any time.

    Placed pods come as the first of their placement class. Where pods of that class are pending, one of them has got
    the node; else it is a pod that did not exist before.
    """

    def __init__(
        self, cluster: ShadowCluster, configuration: VolcanoConfiguration, plugins: Mapping[str, VolcanoPlugin]
    ) -> None:
        self._cluster = cluster
        self._session = Session(cluster, configuration, plugins=plugins, is_following=True)
        self._on_nodes = {id(pod): pod for pod, _ in cluster.placed_pods}
        self._tasks: dict[int, Task] = {}
        self._pending: dict[PlacementClass, list[Task]] = {}
        self._pending_by_uid: dict[str, Task] = {}
        self._placed: dict[tuple[PlacementClass, int], list[Task]] = {}
        self._numbers = count()
        self._extra: list[Task] = []
        self._spare: dict[int, list[Task]] = {}
        """Tasks that are in use no more, by the id of their pod: what may be asked next is about the same few pods."""
        self._asked: tuple[frozenset[int], Mapping[int, Task]] | None = None
        """The ids of the pods that are asked about, and their tasks by these."""
        self._is_stale = True
        self._reads_nodes = True
        """Whether what is idle on nodes decides what comes of a cycle that is opened."""
        self._phases: dict[str, str] | None = None
        self.has_waiting_jobs = True
        """Whether some job was not admitted when the first cycle was opened."""
        self._load()

    def _load(self) -> None:
        """The pods that have no node, or have finished."""
        forms = PlacementForms(self._cluster.snapshot)
        for pod in self._cluster.snapshot.pods:
            if id(pod) in self._on_nodes:
                continue
            task = Task(pod, NO_NODE)
            job = self._session.jobs.get(job_id_of(pod))
            if job is None:
                continue
            task.job = job.id
            self._session.nodes.know(task.request)
            self._enter(task)
            if task.status is Status.PENDING and not task.is_gated:
                placement_class = self._cluster.placement_class(forms.form_of(pod))
                self._pending.setdefault(placement_class, []).append(task)
                self._pending_by_uid[pod.uid] = task

    def asked(self, pod: Pod, company: Company | None = None) -> AskedTask:
        """`pod` in a session that has just admitted jobs: pending, with those of `company` that are not placed yet.
        Valid until something changes or another pod is asked about."""
        is_enough = company is None or self._knows(company)
        return self.asked_together([pod] if is_enough or company is None else _together(pod, company))[0]

    def asked_together(self, pods: Sequence[Pod]) -> Sequence[AskedTask]:
        """All of `pods` in one such session."""
        ids = frozenset(map(id, pods))
        if self._asked is None or self._asked[0] != ids:
            self._leave_if_extended()
            self._asked = ids, {id(each): self._waiting(each) for each in pods}
        self._open_if_stale()
        tasks = self._asked[1]
        return [AskedTask(self._session, tasks[id(each)]) for each in pods]

    def _knows(self, company: Company) -> bool:
        """Whether all of `company` are pods of the cluster, which the session has as they are.

        It is found out once for a company: a gang may have thousands of pods, each of which is asked about.
        """
        known = company.scratch.get(_NAME)
        if known is None:
            known = company.scratch[_NAME] = all(each.uid in self._pending_by_uid for each in company.pods)
        return bool(known)

    def evicted_for(self, pod: Pod, company: Company | None = None) -> EvictedFor | None:
        """Whom the cycle evicts for `pod` and the others of its job by the first action that finds it a node so."""
        asked = self.asked(pod, company)
        session, job = asked.session, asked.job
        found = None
        for action in session.configuration.actions if job is not None and not session.fault else ():
            if found is None and action in _EVICTING:
                with session.taken_back():
                    _EVICTING[action].act(session, job)
                    if asked.task.status is Status.PIPELINED:
                        gone = tuple(eviction.task.pod for eviction in session.evictions)
                        found = EvictedFor(asked.task.node, gone, _EVICTING[action].what)
        self._leave()
        return found

    @property
    def opened_last(self) -> Session:
        """The session, of whatever moment."""
        return self._session

    def job_of(self, pod: Pod) -> Job | None:
        """The job of a pod, as it is now; None where its PodGroup or its queue does not exist."""
        return self._session.jobs.get(job_id_of(pod))

    def opened(self) -> Session:
        """The session as it is now, in which no pod is asked about."""
        self._leave_if_extended()
        self._open_if_stale()
        return self._session

    def _waiting(self, pod: Pod) -> Task:
        """The pending task of `pod`; one that the cluster does not have is added until the cycle ends."""
        known = self._pending_by_uid.get(pod.uid)
        if known is not None and known.status is Status.PENDING:
            return known
        task = self._new(pod)
        self._extra.append(task)
        self._enter(task)
        self._is_stale = True
        return task

    def _leave_if_extended(self) -> None:
        if self._extra:
            self._leave()

    def _open_if_stale(self) -> None:
        """Opens a cycle: jobs are admitted as far as there is room for them."""
        if not self._is_stale:
            return
        session = self._session
        phases = self._phases or {job.id: job.group.phase for job in session.jobs.values()}
        is_marked = any(option.name == _GANG for option in session.configuration.plugins)
        for job in session.jobs.values():
            job.phase = _phase(job, phases[job.id], is_marked=is_marked)
        session.open()
        admits = any(job.is_pending for job in session.jobs.values())
        self._reads_nodes = admits or any(each.name not in _OF_JOBS for each in session.configuration.plugins)
        session.action = "enqueue"
        if "enqueue" not in session.configuration.actions:
            for job in session.jobs.values():
                job.phase = Phase.INQUEUE.value if job.is_pending else job.phase
        elif admits:
            enqueue(session)
        if self._phases is None:
            self._phases = {job.id: job.phase for job in session.jobs.values()}
            self.has_waiting_jobs = any(job.is_pending and job.tasks for job in session.jobs.values())
        self._is_stale = False

    # What the cluster tells

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It is on its node, with its job."""
        self._note_change(pod)
        if id(pod) in self._on_nodes:
            task = self._tasks.get(id(pod)) or self._known(pod)
            task.node, task.status = node, Status.RELEASING if is_terminating else status_of(pod)
            self._enter(task)
        else:
            placement_class = self._cluster.placement_class(pod)
            waiting = self._pending.get(placement_class)
            task = waiting.pop(0) if waiting else self._new(pod)
            self._placed.setdefault((placement_class, node), []).append(task)
            if task.uid in self._pending_by_uid:
                self._exit(task)
            task.node, task.status = node, Status.BOUND
            self._enter(task)
        if node != NO_NODE:
            self._session.nodes.add(task)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        self._note_change(pod)
        placement_class = None if id(pod) in self._on_nodes else self._cluster.placement_class(pod)
        task = self._tasks[id(pod)] if placement_class is None else self._placed[placement_class, node].pop()
        if node != NO_NODE:
            self._session.nodes.remove(task)
        self._exit(task)
        task.node = NO_NODE
        if placement_class is None:
            return
        if task.uid in self._pending_by_uid:
            task.status = Status.PENDING
            self._pending[placement_class].insert(0, task)
            self._enter(task)
        else:
            self._spare_for(task.pod).append(task)

    def fingerprint(self) -> object:
        self._leave_if_extended()
        nodes = self._session.nodes
        jobs = (
            (job.id, sorted((s.value, n) for s, n in job.counts.items() if n), sorted(job.allocated.items()))
            for job in self._session.jobs.values()
            if job.tasks
        )
        rows = ((name, nodes.idle[row].tobytes(), nodes.releasing[row].tobytes()) for name, row in nodes.rows.items())
        return sorted(jobs), sorted((name, *each) for name, *each in rows if nodes.used[nodes.rows[name]].any())

    def _known(self, pod: Pod) -> Task:
        task = self._tasks[id(pod)] = Task(pod, NO_NODE)
        self._session.nodes.know(task.request)
        return task

    def _spare_for(self, pod: Pod) -> list[Task]:
        return self._spare.setdefault(id(pod), [])

    def _new(self, pod: Pod) -> Task:
        """A pod that did not exist before; pods of one class have one name."""
        if spare := self._spare_for(pod):
            task = spare.pop()
            task.status = Status.PENDING
            return task
        task = Task(pod, NO_NODE)
        task.uid = f"{pod.key}/{next(self._numbers)}"
        task.key = task.uid
        task.job = job_id_of(pod)
        task.status = Status.PENDING
        self._session.nodes.know(task.request)
        return task

    def _enter(self, task: Task) -> None:
        job = self._session.jobs.get(task.job)
        if job is not None:
            job.add(task)

    def _exit(self, task: Task) -> None:
        job = self._session.jobs.get(task.job)
        if job is not None:
            job.remove(task)

    def _note_change(self, pod: Pod) -> None:
        """Ends the cycle where it would be another one by what `pod` does: pods of no job take room of nodes alone."""
        has_ended = self._is_stale and self._asked is None and not self._extra
        if not has_ended and (self._reads_nodes or job_id_of(pod) in self._session.jobs):
            self._leave()

    def _leave(self) -> None:
        """Ends the cycle that was opened last."""
        for task in self._extra:
            self._exit(task)
            self._spare_for(task.pod).append(task)
        self._extra.clear()
        self._asked = None
        self._is_stale = True
