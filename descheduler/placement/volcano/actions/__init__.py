"""Actions of Volcano that admit jobs and that evict, a module each."""
