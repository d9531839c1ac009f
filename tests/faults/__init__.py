"""Random faults over HTTP against the real program, judged by an observer that shares no code with it.

    python -m tests.faults --schedules 2000 --seed 1 --jobs 8     # a table of promises; exits with 1 when one is broken
    python -m tests.faults --each-write --jobs 8                  # every trouble at every write of a small run
    python -m tests.faults --schedules 1 --seed 17 -v             # one schedule again, with the server's log

A schedule is drawn from its seed: a small cluster, a policy, flags, and faults for each kind of request. An API server
of its own (`server`, `answers`, `state`) knows what was really evicted, and when. The program runs as a process of its
own (`zygote`), so signals, exit codes and outputs are real. `observer` compares what the program said with what the
server knows. `test_schedules` plays some in the test suite.

The modules import nothing of `descheduler`; only the process that becomes the program does.
"""
