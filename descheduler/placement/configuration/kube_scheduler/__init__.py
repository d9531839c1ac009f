"""`KubeSchedulerConfiguration`: profiles, plugins, their arguments, and extenders."""
