"""A conversation at a terminal: the bots' own agent, for trying things out."""
