"""Dumps of a cluster: from files to the bytes of objects, and the other way round without what must stay secret."""
