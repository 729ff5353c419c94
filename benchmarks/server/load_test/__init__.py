"""What benchmarks of the hosted server share: the servers they start, a raw client, what is asked and checked."""
