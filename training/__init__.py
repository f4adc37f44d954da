"""Everything one runs: training, evaluation, exact solutions."""
