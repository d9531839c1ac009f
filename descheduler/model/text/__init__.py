"""Values as text that people read, and texts of others made safe to print."""
