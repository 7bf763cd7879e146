"""Words: what each number of the page means, in plain words, one hover or tap away."""

from __future__ import annotations

WORDS = {
    "arm": "One of the choices, such as a button or a headline.",
    "online": "What live rewards alone say the arm pays: the dot is their mean, and the bar has "
    "the true mean with a probability of 95 %.",
    "hybrid": "What logs and live rewards say together, as if nothing but the common move had "
    "changed since the logs. The bar has 95 %.",
    "rule": "What the rule makes of both: it believes the logs only as far as was promised, and "
    "never further than live rewards allow. The bar has 95 %.",
    "offline": "The mean of the logs, moved by as much as all arms are believed to have moved "
    "since. The band has 95 %.",
    "p_best": "How likely this arm is the best of those that can be played, by what the rule "
    "believes now.",
    "share": "The share of all decisions that chose this arm. An arm gets more when it is likely "
    "to be best, and some while that is not certain.",
    "live": "How many live rewards came, and their mean.",
    "logs": "How many rewards the logs had, and their mean.",
    "state": "Active arms are drawn. Paused ones are not, until they are resumed. Archived ones "
    "are never played.",
    "leader": "The arm that is believed to pay most.",
    "loss": "What you would lose on average, in 1,000 decisions, if you played the leader alone "
    "from now on and another arm were better.",
    "loss_95": "With a probability of 95 %, playing the leader alone loses less than this in 1,000 "
    "decisions.",
    "saved": "An estimate: worlds are drawn from what is believed now, and in each a rule without "
    "logs plays as many decisions. The difference to what your decisions lost is what the logs "
    "saved. The interval has 90 % of the worlds.",
    "expected": "How many decisions the arm should have, by the probabilities it was drawn with.",
    "traffic": "Whether arms are played as often as their probabilities say. If not, decisions are "
    "lost, repeated or hidden for some arms more than for others.",
    "p_value": "How likely so large a difference would be, at any time, if all went well. Below "
    "0.001 something is wrong.",
    "move": "The live mean minus the logged mean. The bar is where it is, at all times together "
    "with a probability of 99 % for all arms.",
    "alarm_line": "The alarm rings when the whole bar is beyond this line: then the promise about "
    "the logs cannot be true.",
    "common_move": "How far all arms are believed to have moved together since the logs. The rule "
    "moves the logs by it, so a good week for everyone changes no choice.",
    "bias_bound": "V: the promise that the live mean of an arm is within this of its logged mean.",
    "relative_bound": "W: the promise that an arm is at most this far from where the others moved.",
    "pending": "Decisions whose reward has not come yet.",
    "late": "Rewards that came after their window, and do not count.",
    "defaulted": "Decisions whose window ended without a reward: the default reward counts.",
    "expired": "Decisions that were given up: no reward came in time, and nothing counts.",
    "rewarded": "Decisions whose reward came in time.",
    "assigned": "Decisions that were made, and not shown yet.",
    "decisions": "How often an arm was chosen for someone.",
    "rewards": "How many rewards count.",
    "propensity": "How likely this arm was when it was drawn. Kept with each decision, so that "
    "others can check the numbers.",
    "epoch": "A new epoch draws every unit anew.",
    "unit": "Who a decision is for, such as a user.",
    "guard": "The rule plays an arm now and then only to make sure that the logs are not wrong "
    "about it.",
    "floor": "The least share of decisions that each arm keeps for sure, so that it stays known.",
    "index": "The number that the rule compares. The arm with the largest one is played.",
    "median": "The middle one of the arm's numbers decides, so that one of them alone, such as "
    "wrong logs, cannot.",
    "anchor": "The mean of live rewards: the anchor that logs cannot move.",
    "guess": "What the rule believes the arm pays, without luck.",
    "online_sample": "A draw from what live rewards alone say: luck that tries what is uncertain.",
    "hybrid_sample": "A draw from what logs and live rewards say together.",
    "audit_bound": "How good the arm may be while the rule still checks the logs.",
    "online_bound": "How good the arm may be by live rewards alone.",
    "hybrid_bound": "How good the arm may be by logs and live rewards together.",
    "replayed": "The decision was made again from what was known then, and came out the same.",
    "errors": "Requests that this server refused or could not answer, the newest first. Other "
    "processes keep their own.",
}
