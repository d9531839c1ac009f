"""LoadAwareScheduling of koord-scheduler: nodes by their measured usage."""
