"""What a dump keeps of objects: the fields that some rule reads, and those that say which object it is."""
