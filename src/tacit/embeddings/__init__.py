"""Texts to vectors: a port and its adapters. Nothing heavy is imported until one is used."""
