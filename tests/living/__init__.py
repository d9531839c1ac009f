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

Parts: `clock`; `store` (objects, versions, changes) and `resources` (the kinds); `api/` (what a server makes of
requests: lists, watches, writes, evictions, admission, discovery); `transport` (the way in); `acting/` (controllers
of workloads and budgets, kubelets); `scheduling/` (kube-scheduler; koord-scheduler with Reservations and quotas).
"""
