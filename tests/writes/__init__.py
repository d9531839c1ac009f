"""The list of everything that a run writes, docs/explanation/writes.md, and the calls that are held against it."""
