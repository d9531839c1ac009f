"""Parts of RemovePodsViolatingNodeReservation."""
