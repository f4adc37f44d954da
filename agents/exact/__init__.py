"""Exact values of small editions of Bibliogamo, and the agent that plays by them."""
