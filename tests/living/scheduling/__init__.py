"""Schedulers that place pods honestly: filters, preemption, and for koord-scheduler Reservations and quotas."""
