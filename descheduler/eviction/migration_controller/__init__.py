"""MigrationController: which pods Koordinator would migrate, and how many of them at once."""
