"""Conversations of any channel: what is heard, what is said, and the agent in between."""
