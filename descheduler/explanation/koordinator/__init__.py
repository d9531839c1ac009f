"""Objects of Koordinator: what each holds, who uses it and who may, which pods wait for it, and what refuses them."""
