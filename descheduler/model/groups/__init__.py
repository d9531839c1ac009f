"""What pods belong to and what is promised to them together: workloads, gangs, jobs of Volcano, budgets, quotas."""
