"""What the comparison with other proxies is made of."""
