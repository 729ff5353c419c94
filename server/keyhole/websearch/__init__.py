"""From a question to hits. base.py is the port, one file per engine, merge.py makes one list of many."""
