"""Interfaces of other libraries on Tacit: LangGraph and mem0."""
