"""How full nodes are, by requests or as measured, and how full they may be."""
