"""The search for a plan: objectives in order, the nodes that are open to pods, the trial, and what stops it."""
