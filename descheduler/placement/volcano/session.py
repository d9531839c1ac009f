"""One scheduling cycle of Volcano over a shadow cluster: what its plugins see, and what its actions change.

Pods that a session places or evicts come and go in the shadow cluster as well, so that the filters and scores of
kube-scheduler see them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from descheduler.cluster.kinds import KINDS
from descheduler.model.groups.volcano import POD_GROUP_KIND, QUEUE_KIND
from descheduler.placement.configuration.volcano import PluginOption, VolcanoConfiguration
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster
from descheduler.placement.shadow.views import SeenPod
from descheduler.placement.volcano.jobs import Job, Queue, Status, Task
from descheduler.placement.volcano.nodes import Nodes
from descheduler.placement.volcano.order import Choices, FirstChoices
from descheduler.placement.volcano.tiers import Callbacks, NodeCodes, OpenPlugin, Tiers

KeptType = TypeVar("KeptType")


class VolcanoPlugin(NamedTuple):
    """A row of the table of Volcano's plugins: `start` registers what it does with a session."""

    name: str
    start: Callable[[Session, PluginOption], Callbacks]


class Eviction(NamedTuple):
    """A task that is evicted for good, from which node and by which action."""

    task: Task
    node: int
    action: str


class Session:
    """What Volcano would do with `cluster`, as `configuration` says, by the plugins of the table `plugins`.

    `node_order` are the names of nodes in the order in which the scheduler came to know them; without it, by name.
    `is_first_cycle` says that the scheduler has just started. One that `is_following` begins without any pod, and
    changes no pod of the cluster: whoever places pods tells it of them.
    """

    def __init__(
        self,
        cluster: ShadowCluster,
        configuration: VolcanoConfiguration,
        *,
        plugins: Mapping[str, VolcanoPlugin],
        choices: Choices | None = None,
        node_order: Sequence[str] = (),
        is_first_cycle: bool = False,
        is_following: bool = False,
    ) -> None:
        self.cluster = cluster
        self.configuration = configuration
        self.is_first_cycle = is_first_cycle
        self.is_following = is_following
        self.choices = choices or FirstChoices()
        snapshot = cluster.snapshot
        queues = [Queue(each) for each in snapshot.of(KINDS[QUEUE_KIND])]
        self.queues = {queue.name: queue for queue in queues}
        self.jobs = self._jobs()
        tasks = [] if is_following else list(self._tasks())
        self.nodes = Nodes(cluster.table, (task.request for task in tasks))
        self._load(tasks)
        index = cluster.table.index
        self.node_order = [index[name] for name in node_order] or list(range(len(cluster.table)))
        self.binds: dict[str, tuple[Task, str]] = {}
        """Task key → the task and the action that has bound it."""
        self.evictions: list[Eviction] = []
        self.action = ""
        self.fault = ""
        """Why the scheduler ends instead of running an action, or an empty string."""
        self.unlisted: dict[str, SeenPod] = {}
        """Task uid → the pod, with affinity, on a node that is not among those with such pods until the next cycle."""
        self.devices: dict[str, str] = {}
        """Task key → the cards that it was given, as they are noted on the pod."""
        self.accounts: dict[str, object] = {}
        """What plugins keep of queues and jobs, by plugin name."""
        self._plugins = plugins
        self._kept: dict[Hashable, object] = {}
        self._begun_before: dict[int, Callbacks] = {}
        self.tiers = Tiers([])
        self.open()

    def open(self) -> None:
        """Begins a cycle: plugins reopen, or start anew."""
        self.fault = ""
        if not self.tiers.reopen():
            opened = [
                [OpenPlugin(option, self._begun(option)) for option in tier if option.name in self._plugins]
                for tier in self.configuration.tiers
            ]
            self.tiers = Tiers(opened)

    def _begun(self, option: PluginOption) -> Callbacks:
        """What a plugin registers with the cycle that begins."""
        known = self._begun_before.get(id(option))
        if known is not None and known.reopen is not None:
            known.reopen()
            return known
        started = self._begun_before[id(option)] = self._plugins[option.name].start(self, option)
        return started

    def kept(self, key: Hashable, make: Callable[[], KeptType]) -> KeptType:
        """What a plugin keeps from one cycle to the next, as `make` gives it to the first that asks."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value] # what `make` gave

    def _jobs(self) -> dict[str, Job]:
        """The PodGroups whose queue exists, in name order."""
        classes = self.cluster.snapshot.priority_classes
        default = next((each.value for each in classes.values() if each.is_global_default), 0)
        found: dict[str, Job] = {}
        for group in self.cluster.snapshot.of(KINDS[POD_GROUP_KIND]):
            if group.queue in self.queues:
                named = classes.get(group.priority_class_name)
                found[group.gang_id] = Job(group, default if named is None else named.value)
        return found

    def _tasks(self) -> Iterator[Task]:
        index = self.cluster.table.index
        return (Task(pod, index.get(pod.node_name, NO_NODE)) for pod in self.cluster.snapshot.pods)

    def _load(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            if task.job in self.jobs:
                self.jobs[task.job].add(task)
            if task.node != NO_NODE and not task.pod.is_terminal:
                self.nodes.add(task)
        self.nodes.kept_idle = self.nodes.idle.copy()

    def arguments_of(self, action: str) -> Arguments:
        """What the configuration says of an action."""
        return self.configuration.action_arguments.get(action, Arguments())

    def job_of(self, task: Task) -> Job:
        """The job of a task that has one."""
        return self.jobs[task.job]

    def valid_jobs(self) -> Iterator[tuple[Job, Queue]]:
        """The jobs that are admitted and valid, with their queues."""
        for job in self.jobs.values():
            if not job.is_pending and not self.tiers.fault_of(job):
                yield job, self.queues[job.queue]

    # What the nodes say

    def codes(self, task: Task) -> NodeCodes:
        """What predicates say of each node; resources are no part of it."""
        return self.tiers.codes(task, len(self.cluster.table))

    # What changes

    def allocate(self, task: Task, node: int) -> None:
        """Puts a pending task on a node where there is room."""
        self._put(task, node, Status.ALLOCATED)

    def pipeline(self, task: Task, node: int) -> None:
        """Has a pending task wait for room that is being released on a node."""
        self._put(task, node, Status.PIPELINED)

    def _put(self, task: Task, node: int, status: Status) -> None:
        task.node = node
        self.job_of(task).set_status(task, status)
        self.nodes.add(task)
        self.tiers.tell("allocated", task)

    def take_back(self, task: Task) -> None:
        """Takes a task that was put on a node off it again."""
        self.nodes.remove(task)
        self.job_of(task).set_status(task, Status.PENDING)
        self.tiers.tell("deallocated", task)
        task.node = NO_NODE

    def release(self, task: Task) -> None:
        """Has a task leave its node."""
        self._restate(task, Status.RELEASING)
        self.tiers.tell("deallocated", task)

    def retain(self, task: Task) -> None:
        """Has it stay after all; one that was bound counts as running."""
        self._restate(task, Status.RUNNING)
        self.tiers.tell("allocated", task)

    def _restate(self, task: Task, status: Status) -> None:
        self.nodes.remove(task)
        self.job_of(task).set_status(task, status)
        self.nodes.add(task)

    def bind(self, task: Task) -> None:
        """Hands an allocated task to the binder, which may refuse it."""
        if self.nodes.bind(task):
            self.job_of(task).set_status(task, Status.BINDING)
            self.binds[task.key] = task, self.action

    def evict(self, task: Task) -> None:
        """Evicts a task that was released for good."""
        self.evictions.append(Eviction(task, task.node, self.action))

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """A context at whose end tasks are as they were. What plugins keep is not: the cycle is to be opened again."""
        before = [(task, task.status, task.node) for job in self.jobs.values() for task in job.tasks.values()]
        on_nodes, num_evictions = [dict(each) for each in self.nodes.tasks], len(self.evictions)
        try:
            yield
        finally:
            for task, status, node in before:
                if (task.status, task.node) != (status, node):
                    self._put_back(task, status, node)
            self.nodes.tasks[:] = on_nodes
            del self.evictions[num_evictions:]

    def _put_back(self, task: Task, status: Status, node: int) -> None:
        if task.node != NO_NODE:
            self.nodes.remove(task)
        self.job_of(task).set_status(task, status)
        task.node = node
        if node != NO_NODE:
            self.nodes.add(task)

    def close(self) -> None:
        """Ends the cycle: plugins write conditions, and the jobs get their phases."""
        self.tiers.tell("before_close")
        for job in self.jobs.values():
            job.phase = job.phase_after()


class Statement:
    """Changes of a session that are carried out together or taken back."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._log: list[tuple[Status, Task]] = []

    def allocate(self, task: Task, node: int) -> None:
        """As `Session.allocate`."""
        self._log.append((Status.ALLOCATED, task))
        self._session.allocate(task, node)

    def pipeline(self, task: Task, node: int) -> None:
        """As `Session.pipeline`."""
        self._log.append((Status.PIPELINED, task))
        self._session.pipeline(task, node)

    def release(self, task: Task) -> None:
        """As `Session.release`."""
        self._log.append((Status.RELEASING, task))
        self._session.release(task)

    def commit(self) -> None:
        """Binds and evicts, in the order of the changes."""
        for kind, task in self._log:
            if kind is Status.ALLOCATED:
                self._session.bind(task)
            elif kind is Status.RELEASING:
                self._session.evict(task)
        self._log.clear()

    def discard(self) -> None:
        """Takes all changes back, the last one first."""
        for kind, task in reversed(self._log):
            if kind is Status.RELEASING:
                self._session.retain(task)
            else:
                self._session.take_back(task)
        self._log.clear()
