"""The games: rules, state, chance, drawing, and adapters to the usual APIs."""
