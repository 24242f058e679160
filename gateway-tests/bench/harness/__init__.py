"""What gateway-tests/bench/run and gateway-tests/bench/budget are made of."""
