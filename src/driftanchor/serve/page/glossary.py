"""Plain-language tooltips for the numbers on the page."""

from __future__ import annotations

WORDS = {
    "arm": "One of the choices, such as a button or a headline.",
    "online": "What the arm pays according to live rewards alone: the dot is their mean, and the "
    "bar is a 95 % interval.",
    "hybrid": "What the arm pays according to logs and live rewards together, if only the common "
    "move has changed since the logs. The bar is a 95 % interval.",
    "rule": "What the rule concludes from both: it trusts the logs only as far as was promised, "
    "and never further than live rewards allow. The bar is a 95 % interval.",
    "offline": "The mean of the logs, moved by as much as all arms are believed to have moved "
    "since. The band is a 95 % interval.",
    "p_best": "How likely this arm is to be the best of those that can be played, given what the "
    "rule believes now.",
    "share": "The share of all decisions that chose this arm. An arm gets more if it is likely "
    "to be the best, and a few while that is uncertain.",
    "live": "The mean of live rewards, and how many rewards it is worth. Where rewards are "
    "delayed, it allows for rewards that should still arrive.",
    "logs": "How many rewards the logs have, and their mean.",
    "leader": "The arm that is most likely the best.",
    "loss": "How many rewards you would lose on average, in 1,000 decisions, if you played only "
    "the leader from now on, because another arm may be better.",
    "saved": "An estimate: worlds are drawn from what is believed now, and in each of them a rule "
    "without logs makes as many decisions. What it loses more than your decisions is what the logs "
    "saved. The interval covers 90 % of the worlds.",
    "expected": "How many decisions the arm should have, according to the probabilities with which "
    "it was drawn.",
    "p_value": "How likely such a large difference would be, at any time, if nothing were wrong. "
    "Below 0.001 something is wrong.",
    "move": "The live mean minus the logged mean. The bar is an interval that holds for all arms "
    "and at all times together with a probability of 99 %. With a reward window, rewards are "
    "tested in the order of decisions, up to the first one that still waits.",
    "alarm_line": "The alarm rings when the whole bar is beyond this line: then the promise about "
    "the logs cannot be true.",
    "common_move": "How far all arms are believed to have moved together since the logs. The rule "
    "moves the logs by it, so a good week for everyone changes no choice.",
    "pending": "Decisions whose reward has not arrived yet.",
    "late": "Rewards that arrived after their window and do not count.",
    "defaulted": "Decisions whose window ended without a reward: the default reward counts.",
    "expired": "Decisions that were closed without a reward: they do not count.",
    "rewarded": "Decisions whose reward arrived in time.",
    "assigned": "Decisions that were made but not shown yet.",
    "decisions": "How often the arm was chosen.",
    "rewards": "How many rewards count.",
    "propensity": "The probability with which this arm was drawn. It is kept with each decision, "
    "so that others can check the numbers.",
    "epoch": "In a new epoch, every unit gets a new decision.",
    "unit": "Who the decision is for, such as a user.",
    "guard": "Now and then the rule plays an arm only to check that the logs are not wrong about "
    "it.",
    "floor": "The smallest share of decisions that each arm always gets.",
    "index": "The number that the rule compares. The arm with the largest one is played.",
    "median": "The middle one of the arm's numbers decides, so a single wrong number, such as one "
    "from wrong logs, cannot.",
    "anchor": "The mean of live rewards: the anchor that logs cannot move.",
    "guess": "What the rule believes the arm pays, without any randomness.",
    "online_sample": "A random draw from what live rewards alone say, so that uncertain arms are "
    "tried.",
    "hybrid_sample": "A random draw from what logs and live rewards say together.",
    "audit_bound": "How good the arm may be while the rule still checks the logs.",
    "online_bound": "How good the arm may be according to live rewards alone.",
    "hybrid_bound": "How good the arm may be according to logs and live rewards together.",
    "replayed": "The decision was computed again from what was known then, with the same result.",
}
