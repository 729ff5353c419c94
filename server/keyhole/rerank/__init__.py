"""Optional reranking of passages by a local model or by HTTP services; off by default."""
