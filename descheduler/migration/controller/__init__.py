"""Takes jobs through their steps against a cluster, several at once, until each has ended or the run has."""
