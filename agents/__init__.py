"""Agents: batched functions from what a player may see to actions."""
