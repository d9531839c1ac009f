"""Room held by a Reservation of Koordinator, which koord-scheduler places and the replacement uses."""
