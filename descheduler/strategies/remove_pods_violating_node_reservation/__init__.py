"""What RemovePodsViolatingNodeReservation is made of."""
