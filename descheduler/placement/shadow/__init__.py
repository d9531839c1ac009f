"""The cluster as it would be: columns over nodes, counters of placed pods, ledgers, and what-ifs."""
