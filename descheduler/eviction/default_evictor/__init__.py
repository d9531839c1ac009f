"""DefaultEvictor, and the protections of pods that it shares with MigrationController."""
