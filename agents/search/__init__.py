"""Agents that plan: they try their choices in imagined games before they take one."""
