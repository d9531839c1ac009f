"""The two roads of an eviction, which the dispatcher takes: plain calls, and jobs that outlast the run."""
