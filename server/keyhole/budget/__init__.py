"""Everything about the size of a result: clients' limits, tokens, budgets, and fitting an answer to one."""
