"""What benchmarks/run and benchmarks/budget are made of."""
