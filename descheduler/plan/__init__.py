"""What a run decides, as values: eviction makes them, migration carries them out, reports show them."""
