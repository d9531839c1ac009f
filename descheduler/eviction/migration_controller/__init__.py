"""MigrationController: which pods Koordinator would let migrate, and how many of them at once."""
