"""This program and the upstream descheduler side by side, over the same real API server; `make bench-peer`."""
