"""Others who change the cluster between the plan and the eviction: told once, played on the living cluster and the
real control plane."""
