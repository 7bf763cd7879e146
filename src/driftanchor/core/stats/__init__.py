"""Statistics that several packages share.

- `summary`: mean, standard error and quantiles of a sample; whether rewards are binary.
- `intervals`: fixed-sample intervals for means, shares, differences, quantiles and contrasts.
- `bounded_mean`: an interval for the mean of bounded values, valid at every sample size.
- `anytime`: anytime-valid intervals in plain scalar code, for tests after every reward.
- `stratified`: arms compared within strata.
- `largest`: the probability that each of several normal variables is the largest.
- `distributions`: the normal, Student's t and chi-square distributions.
"""
