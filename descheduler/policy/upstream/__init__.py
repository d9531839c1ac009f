"""Documents of kubernetes-sigs/descheduler, read as it reads them, its quirks included."""
