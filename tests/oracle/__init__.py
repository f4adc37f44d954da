"""Slow, plain, scalar versions of the games, written from the rules text alone."""
