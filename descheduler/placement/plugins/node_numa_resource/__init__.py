"""NodeNUMAResource, which pins pods to CPUs (koordinator 1.8 `pkg/scheduler/plugins/nodenumaresource`)."""
