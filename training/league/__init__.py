"""Tournaments of several players: every deal in every seat, win shares, and one rating."""
