"""What koord-scheduler adds to a scheduling cycle: features, given devices, and Reservations that match the pod."""
