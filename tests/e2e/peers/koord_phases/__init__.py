"""Recorded scripts of PodMigrationJobs on the real control plane, carried out by this program and by koord-descheduler.

`python -m tests.e2e.peers.koord_phases FILE` plays those of a file of recorded cases.
"""
