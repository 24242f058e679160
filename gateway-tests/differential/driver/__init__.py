"""What the comparison with servers and clients is made of."""
