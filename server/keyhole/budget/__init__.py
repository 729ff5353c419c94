"""The size of results: clients' limits, estimates of tokens, the budget of a call, and fitting an answer into it."""
