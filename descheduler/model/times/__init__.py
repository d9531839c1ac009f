"""When things happen: cron expressions, and windows of time."""
