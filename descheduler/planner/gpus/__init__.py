"""GPUs one by one, as Koordinator's Device objects list them."""
