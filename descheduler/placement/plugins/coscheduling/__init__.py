"""Coscheduling of koord-scheduler (koordinator 1.8): the pods of a gang are bound together or not at all.

Follows `pkg/scheduler/plugins/coscheduling/core` of koordinator-sh/koordinator and what its scheduler was seen to do.
"""
