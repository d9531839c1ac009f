"""From a policy and what the cluster offers to the jobs by which its evictions are carried out."""
