"""The documents of a run, Plan and Outcome, and one writer a format."""
