"""Questions to language models: a port and its adapters. Nothing heavy is imported until asked."""
