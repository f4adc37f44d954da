"""Lines found in hindsight for many deals: processes, files, the command."""
