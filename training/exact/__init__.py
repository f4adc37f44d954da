"""Exact values as ground truth: the command ``solve``, and policies evaluated without sampling."""
