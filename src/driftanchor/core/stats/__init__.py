"""Statistics that several packages need, each formula in one place; NumPy and nothing else.

- `summary`: mean, standard error and quantiles of many values.
- `intervals`: where a mean, a share, a difference of means or a quantile may be.
- `contrasts`: weighted sums of means or quantiles, paired run by run, with standard errors.
- `anytime`, `coin_difference`: where a mean or a difference is, right at all times together.
- `largest`: which of some normal numbers is the largest.
- `normal`, `student`, `chi_square`: the laws behind them.
- `coins`: whether rewards are all 0 or 1.
"""
