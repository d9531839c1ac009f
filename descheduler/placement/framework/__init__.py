"""What a scheduling plugin is, and how one pod goes through the plugins of its scheduler."""
