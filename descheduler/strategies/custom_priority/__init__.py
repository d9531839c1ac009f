"""CustomPriority: arguments, levels of nodes, and the plugin."""
