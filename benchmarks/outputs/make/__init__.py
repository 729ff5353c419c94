"""Make the outputs of the benchmark again, by running the programs of `recipes.jsonl`."""
