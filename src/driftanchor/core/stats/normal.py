"""Another address of `distributions.normal_cdf`, for `largest`."""

from driftanchor.core.stats.distributions import normal_cdf as normal_cdf
