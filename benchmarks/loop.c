/* Anchor-TS as one would write it in C: what the engines are measured against.

   The noise is that of driftanchor.core.noise, word for word, and the formulas are those of
   driftanchor.policies.anchor_ts with the paper's prior and noise, so that `every_round` plays
   the very arms that the engine of that name plays. Tables and streams come from Python. */

#include <math.h>
#include <stdint.h>

typedef struct {
    uint64_t s[4];
} Stream;

typedef struct {
    const double *edge, *per_step, *density;
    double tail;
} Ziggurat;

typedef struct {
    int64_t arms;
    const double *online, *offline_means, *bias_bounds;
    const int64_t *offline_pulls;
} World;

typedef struct {
    double mean, sd, hybrid_mean, hybrid_sd;
} Belief;

/* The state of a run: one entry for each arm. */
typedef struct {
    int64_t *pulls;
    double *totals;
    Belief *beliefs;
    Stream *rewards;
} State;

typedef struct {
    double value;
    int64_t arm, tied;
} Best;

static inline uint64_t rotated(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

/* xoshiro256++ */
static inline uint64_t next(Stream *stream) {
    uint64_t *s = stream->s, word = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return word;
}

static inline double uniform(Stream *stream) { return (double)(next(stream) >> 11) * 0x1p-53; }

static double tail(Stream *stream, const Ziggurat *z, int positive) {
    for (;;) {
        double a = -log(1.0 - uniform(stream)) / z->tail;
        double b = -log(1.0 - uniform(stream));
        if (b + b > a * a) return positive ? z->tail + a : -z->tail - a;
    }
}

static inline double position(uint64_t word, const Ziggurat *z) {
    return (double)((int64_t)(word >> 11) - (INT64_C(1) << 52)) * z->per_step[word & 255];
}

static double outside(Stream *stream, const Ziggurat *z, uint64_t layer, double x) {
    for (;;) {
        if (layer == 0) return tail(stream, z, x > 0.0);
        double low = z->density[layer], high = z->density[layer + 1];
        if (low + uniform(stream) * (high - low) < exp(-0.5 * x * x)) return x;
        uint64_t word = next(stream);
        layer = word & 255;
        x = position(word, z);
        if (fabs(x) < z->edge[layer + 1]) return x;
    }
}

static inline double normal(Stream *stream, const Ziggurat *z) {
    uint64_t word = next(stream);
    double x = position(word, z);
    if (fabs(x) < z->edge[(word & 255) + 1]) return x;
    Stream copy = *stream; /* handing out its address would keep the stream out of registers */
    x = outside(&copy, z, word & 255, x);
    *stream = copy;
    return x;
}

static Belief believe(const World *world, const State *state, int64_t arm) {
    double total = state->totals[arm], logs = (double)world->offline_pulls[arm];
    double n = (double)state->pulls[arm] + 1.0, all = n + logs;
    double shift = logs > 0.0 ? logs * world->bias_bounds[arm] / (all - 1.0) : 0.0;
    double hybrid_mean = (total + logs * world->offline_means[arm]) / all + shift;
    return (Belief){total / n, sqrt(1.0 / n), hybrid_mean, sqrt(1.0 / all)};
}

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

static inline double median(double a, double b, double c) {
    return larger(smaller(a, b), smaller(larger(a, b), c));
}

/* Ties go to each of the tied arms with the same chance. */
static inline void challenge(Best *best, double value, int64_t arm, Stream *stream) {
    if (!(value >= best->value)) return;
    best->tied = value == best->value ? best->tied + 1 : 1;
    if (best->tied == 1 || uniform(stream) * (double)best->tied < 1.0) best->arm = arm;
    best->value = value;
}

static void begin(const World *world, State *state) {
    for (int64_t arm = 0; arm < world->arms; arm++) {
        state->pulls[arm] = 0;
        state->totals[arm] = 0.0;
        state->beliefs[arm] = believe(world, state, arm);
    }
}

static inline void pull(const World *world, State *state, const Ziggurat *z, int64_t arm) {
    state->totals[arm] += world->online[arm] + normal(&state->rewards[arm], z);
    state->pulls[arm]++;
    state->beliefs[arm] = believe(world, state, arm);
}

/* Draws two samples for each arm in each round. */
void every_round(const World *world, State *state, const Ziggurat *z, Stream *policy, int64_t horizon) {
    Stream stream = *policy;
    begin(world, state);
    for (int64_t t = 0; t < horizon; t++) {
        Best best = {-INFINITY, -1, 0};
        for (int64_t arm = 0; arm < world->arms; arm++) {
            Belief b = state->beliefs[arm];
            double on = b.mean + b.sd * normal(&stream, z);
            double hybrid = b.hybrid_mean + b.hybrid_sd * normal(&stream, z);
            challenge(&best, median(b.mean, on, hybrid), arm, &stream);
        }
        pull(world, state, z, best.arm);
    }
}

/* The same law with fewer draws: the leader's index first; another arm's median is above that only
   if two of its three numbers are, so its hybrid sample is drawn only when one of the others is.
   Any arm may go first; the one with the largest mean of the last round makes most others skip. */
void lazily(const World *world, State *state, const Ziggurat *z, Stream *policy, int64_t horizon) {
    Stream stream = *policy;
    begin(world, state);
    int64_t leader = 0;
    for (int64_t t = 0; t < horizon; t++) {
        Belief l = state->beliefs[leader];
        double on = l.mean + l.sd * normal(&stream, z);
        double hybrid = l.hybrid_mean + l.hybrid_sd * normal(&stream, z);
        Best best = {median(l.mean, on, hybrid), leader, 1};
        int64_t first = leader;
        double largest = l.mean;
        for (int64_t arm = 0; arm < world->arms; arm++) {
            if (arm == first) continue;
            Belief b = state->beliefs[arm];
            if (b.mean > largest) largest = b.mean, leader = arm;
            on = b.mean + b.sd * normal(&stream, z);
            if (larger(b.mean, on) < best.value) continue;
            hybrid = b.hybrid_mean + b.hybrid_sd * normal(&stream, z);
            challenge(&best, median(b.mean, on, hybrid), arm, &stream);
        }
        pull(world, state, z, best.arm);
    }
}

/* The floor: so many normals and nothing else; their sum, so that none is left out. */
double normals(Stream *stream, const Ziggurat *z, int64_t count) {
    Stream local = *stream;
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) sum += normal(&local, z);
    *stream = local;
    return sum;
}
