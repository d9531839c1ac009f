"""What happened in one schedule: the server's truth and the program's words, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Limits:
    """The policy's limits of evictions a run; None is no limit. `plugin_node` is that of LowNodeUtilization."""

    total: int | None = None
    node: int | None = None
    namespace: int | None = None
    plugin_node: int | None = None

    def policy_keys(self) -> dict[str, int]:
        """The keys of a policy that set those of the run."""
        keys = {
            "maxNoOfPodsToEvictTotal": self.total,
            "maxNoOfPodsToEvictPerNode": self.node,
            "maxNoOfPodsToEvictPerNamespace": self.namespace,
        }
        return {key: limit for key, limit in keys.items() if limit is not None}


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed with the program by policy and flags; times in seconds."""

    limits: Limits = Limits()
    deadline_seconds: float | None = None
    request_timeout_seconds: float = 30.0
    lease_seconds: int | None = None
    is_detailed: bool = False
    is_json: bool = True
    canaries: tuple[str, ...] = ()
    protected: frozenset[str] = frozenset()
    """Uids of pods that the policy allows nobody to evict."""
    unasked: frozenset[str] = frozenset()
    """Uids of pods that no plugin selects, and that no job asks for which may go on: paused, ended, somebody's own."""


@dataclass(frozen=True, slots=True)
class Write:
    """A call that really changed an object which is no Lease, no Event and no eviction. `path` is that of the object.

    `whose` says whose the object is: "ours" for what the program has created in this schedule, "open" for the job of a
    user that waits or is under way, and "others" for all else.
    """

    at: float
    run: int
    verb: str
    path: str
    uid: str
    whose: str
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class LeftOver:
    """An object that the program had created by a call of the run `made_by`, and that is there when a run has ended.

    `kind` is "job" or "room". `job_uid` is that of the job itself, or of the one that the room is for; `pod_uid` that
    of the pod of a job. `is_over` says that a job has ended, or that room was used up.
    """

    kind: str
    path: str
    job_uid: str
    made_by: int
    is_late: bool = False
    pod_uid: str = ""
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Deletion:
    """The object at `path` that somebody else deleted. `at` is monotonic."""

    at: float
    path: str


@dataclass(frozen=True, slots=True)
class Effect:
    """A pod that really left because `run` asked for it. `at` is monotonic."""

    at: float
    run: int
    uid: str
    pod: str
    namespace: str
    node: str
    is_late: bool = False
    budget: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the list with this number, which begins at the item `start`."""

    list_number: int
    start: int
    is_last: bool


@dataclass(slots=True)
class Request:
    """One request as the server saw it; `fault` is the name of the one that it met, "" for none.

    `uid` is that of the pod that an eviction asked for, by precondition or by name. `holder` is who held the Lease when
    it came, "" for nobody. `is_confirmed` says that an eviction was honestly answered with success.
    """

    number: int
    at: float
    run: int
    kind: str
    method: str
    path: str
    fault: str = ""
    code: int = 0
    uid: str = ""
    holder: str = ""
    is_confirmed: bool = False
    page: Page | None = None
    is_whole: bool = False
    """Whether the answer was sent as it should be."""
    note: str = ""
    met: str = ""
    """What happened as it came, "" for nothing."""
    about: str = ""
    """Path of the object that a call is about, that of one which is to be created included; "" for lists."""


@dataclass(frozen=True, slots=True)
class Tenure:
    """From `at` on the Lease is in the hands of `holder` ("" for nobody); `is_seized` by a rival, against the rules or
    because it had run out."""

    at: float
    holder: str
    is_seized: bool = False
    had_expired: bool = False


@dataclass(slots=True)
class Run:
    """One process from start to end; times monotonic. `exit_code` is 128 + signal for one that a signal ended.

    `was_killed` when the harness had to. `signals` are those that were sent, with their times. `paused` are the spans
    between SIGSTOP and SIGCONT. `has_output` is False when standard output was taken away.
    """

    index: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    exit_code: int = 0
    was_killed: bool = False
    stdout: str = ""
    stderr: str = ""
    metrics: str = ""
    max_rss_bytes: int = 0
    signals: list[tuple[float, str]] = field(default_factory=list)
    paused: list[tuple[float, float]] = field(default_factory=list)
    has_output: bool = True
    identity: str = ""

    @property
    def was_ended(self) -> bool:
        """Whether it was killed, by the harness or as the schedule has it."""
        return self.was_killed or any(name == "SIGKILL" for _, name in self.signals)

    stalled_seconds: float = 0.0
    """For how long this machine kept the harness itself from running meanwhile."""


@dataclass(slots=True)
class History:
    """Everything an observer needs to judge one schedule."""

    seed: int
    terms: Terms
    runs: list[Run] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    tenures: list[Tenure] = field(default_factory=list)
    departed: set[str] = field(default_factory=set)
    """Uids of pods that somebody else deleted."""
    listed: dict[int, set[str]] = field(default_factory=dict)
    """Run → uids of the pods that it was told of."""
    budgets: dict[str, int] = field(default_factory=dict)
    """Budget → disruptions that it allowed at the start."""
    events: list[str] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    left: dict[int, list[LeftOver]] = field(default_factory=dict)
    """Run → what there was of the program's own objects when it ended."""
    open_jobs: dict[int, set[str]] = field(default_factory=dict)
    """Run → UIDs of the jobs of all that had not ended when it did."""
    deletions: dict[str, Deletion] = field(default_factory=dict)
    """UID of a job of the program → how somebody else deleted it."""
    foreign_credentials: list[str] = field(default_factory=list)
    """Credentials that were sent where they do not belong."""
