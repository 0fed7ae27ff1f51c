"""Bots in chat channels: inbound and outbound messages, and the agent between them."""
