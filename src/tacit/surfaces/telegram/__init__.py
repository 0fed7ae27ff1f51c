"""Telegram: what its Bot API tells is heard, and what is said goes back through it."""
