"""A living Kubernetes cluster within the process, on a clock of its own, for tests of migrations.

    cluster = living_cluster(3, [deployment("web", 3, on=["n1", "n1", "n2"])], [budget("web", maxUnavailable=1)])
    client = cluster.client()               # a KubeClient; every call takes 10 ms of the cluster's time
    cluster.clock.sleep(30)                 # lets 30 s pass at once; pass it, `monotonic` and `now` to what waits
    cluster.client(agent="rival")           # somebody else; only what "us" does is held against the program
    cluster.api.sent("POST", "/eviction")   # the requests that came, each with its number, time and status

Nothing here shares code with the decisions of `descheduler`, which it judges; of that package only the client's own
types are used. All is single-threaded: time passes when a caller sleeps or calls the API, and whatever is due then
happens in between. The same seed and the same calls give the same history.

`builders` has more such words (nodes, StatefulSets, pods, priority classes, quotas, Reservations); annotations of
`acting.kubelet` make pods slow to start or to stop, or never ready. `LivingCluster` says what can be switched.

    observer = Observer(cluster, Limits(at_once_per_workload=1))     # from now on
    ... the program runs ...
    observer.assert_kept()                  # nothing violated, lost or left over; a line for each broken promise

    way = FaultyWay(cluster.api, SeededFaults(seed), kill_at=17, kills_after_effect=True)
    way.before("POST", "/eviction", partial(cluster.add, pod("rival", cpu="3", on="n2")))
    client = cluster.client(passage=way)    # Killed (a BaseException) is raised at the 17th call and ever after

    script = RecordedScript(case)           # a recorded PodMigrationJob script, see `recorded`
    with LivingServer(cluster, scale=20) as server:     # over HTTP, in real time, for whole processes, see `http`

Parts: `clock`; `store` (objects, versions, changes) and `resources` (the kinds); `api/` (what a server makes of
requests: lists, watches, writes, evictions, admission, discovery); `transport` (the way in); `acting/` (controllers
of workloads and budgets, kubelets); `scheduling/` (kube-scheduler; koord-scheduler with Reservations and quotas);
`observing/` (what may not happen); `faults` (what may go wrong on the way). A watch that is read lets time pass to
the next event, up to its `timeoutSeconds`; in another thread than the one that made the cluster it waits instead.
"""
