"""Upper bounds on what any policy of Bibliogamo can score on average; see docs/optimal_bound.md."""
