"""The log of calls: the arguments of each call, its result, and the stored texts that it showed."""
