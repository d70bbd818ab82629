/* Search Fish for fish and territory; see `fairplay.games.fish.territory`. */

#include "fish.h"

enum { MOST_NODES = 10000000, CAUGHT = 3, NEARER = 2, WIDTH = 10, BITS = 3, ENDLESS = 1 << 30 };

typedef struct {
    int me;
    uint64_t fish[BITS]; /* the cells whose number of fish has this bit */
    int nodes;           /* positions that may still be evaluated */
    int more;            /* did the depth cut off anything? */
    Long call;
} Search;

static int fish_on(const Search *search, uint64_t cells) {
    int fish = 0;
    for (int bit = 0; bit < BITS; bit++)
        fish += __builtin_popcountll(cells & search->fish[bit]) << bit;
    return fish;
}

static uint64_t movable(const Position *at, const Penguins *penguins) {
    uint64_t cells = 0;
    for (int slot = 0; slot < penguins->count; slot++)
        if (at->board->near[penguins->cells[slot]] & at->free)
            cells |= 1ull << penguins->cells[slot];
    return cells;
}

static uint64_t reach_from(const Position *at, uint64_t cells) {
    uint64_t reached = 0;
    for (; cells; cells &= cells - 1)
        reached |= reach(at->board, lowest(cells), at->free);
    return reached;
}

static int evaluate(Search *search, const Game *game) {
    const Position *at = &game->at;
    uint64_t open = at->free, some = open, fronts[SEATS];
    int worth[SEATS], ahead = 0, mine = 0;
    for (int place = 0; place < game->in; place++) {
        int seat = game->order[place];
        fronts[place] = movable(at, &at->penguins[seat]);
        worth[place] = CAUGHT * (game->scores[seat] + fish_on(search, fronts[place]));
    }
    while (open && some) {
        uint64_t shared = 0;
        some = 0;
        for (int place = 0; place < game->in; place++) {
            fronts[place] = reach_from(at, fronts[place]) & open;
            shared |= some & fronts[place];
            some |= fronts[place];
        }
        for (int place = 0; place < game->in; place++)
            worth[place] += NEARER * fish_on(search, fronts[place] & ~shared);
        open &= ~some;
    }
    for (int place = 0; place < game->in; place++)
        if (game->order[place] == search->me)
            mine = worth[place];
    for (int place = 0; place < game->in; place++)
        ahead += mine - worth[place];
    return game->in > 1 ? ahead : mine;
}

static int is_over(const Search *search) { return search->nodes <= 0 || search->call.stopped; }

static int outlook(Search *search, const Game *game, int depth, int alpha, int beta);

/* Sort steps, the best for the seat on turn first, without looking ahead. */
static void sort_by_worth(Search *search, const Game *game, Step *steps, int count) {
    int more = search->more, mine = game->order[0] == search->me;
    for (int place = 0; place < count; place++) {
        Game then = after_step(game, steps[place]);
        int worth = outlook(search, &then, 0, -ENDLESS, ENDLESS);
        steps[place].worth = mine ? worth : -worth;
    }
    search->more = more;
    sort_steps(steps, count);
}

static int outlook(Search *search, const Game *game, int depth, int alpha, int beta) {
    Step steps[MOST_STEPS];
    if (is_over(search) || interrupted(&search->call))
        return 0;
    int count = depth ? steps_of(game, steps) : 0, mine = game->order[0] == search->me;
    if (!count) {
        search->nodes--;
        search->more |= !depth;
        return evaluate(search, game);
    }
    if (depth > 1) {
        sort_by_worth(search, game, steps, count);
        count = count < WIDTH ? count : WIDTH;
    }
    int best = mine ? -ENDLESS : ENDLESS;
    for (int place = 0; place < count && alpha < beta; place++) {
        Game then = after_step(game, steps[place]);
        int worth = outlook(search, &then, depth - 1, alpha, beta);
        if (mine) {
            best = worth > best ? worth : best;
            alpha = best > alpha ? best : alpha;
        } else {
            best = worth < best ? worth : best;
            beta = best < beta ? best : beta;
        }
    }
    return best;
}

static int best_first(Search *search, const Game *game, Step *steps) {
    int count = steps_of(game, steps);
    if (count > search->nodes)
        count = search->nodes;
    sort_by_worth(search, game, steps, count);
    search->more = count > 1;
    for (int depth = 1; search->more && !is_over(search); depth++) {
        int alpha = -ENDLESS;
        search->more = 0;
        for (int place = 0; place < count; place++) {
            Step step = steps[place];
            Game then = after_step(game, step);
            int worth = outlook(search, &then, depth, alpha, ENDLESS);
            if (is_over(search))
                break;
            if (worth > alpha) {
                alpha = worth;
                for (int to = place; to; to--)
                    steps[to] = steps[to - 1];
                steps[0] = step;
            }
        }
    }
    return count;
}

/* (rows, columns, fish, free, penguins, order, each, nodes): `each` is how many penguins a player places, or 0 if all
   are placed. Scores are not needed, as they are the same for all steps. */
PyObject *fish_territory(PyObject *module, PyObject *arguments) {
    (void)module;
    int rows, columns;
    const char *fish;
    Py_ssize_t size;
    uint64_t free;
    PyObject *penguins, *order;
    Step steps[MOST_STEPS];
    Game game = {0};
    Search search = {0};
    if (!PyArg_ParseTuple(arguments, "iiy#O&OOii", &rows, &columns, &fish, &size, read_mask, &free, &penguins, &order,
                          &game.each, &search.nodes))
        return NULL;
    if (!read_position(&game.at, rows, columns, fish, size, free, penguins) || !read_order(&game, order))
        return NULL;
    if (search.nodes < 1 || search.nodes > MOST_NODES || !game.in)
        return PyErr_Format(PyExc_ValueError, "needs a seat, and 1 to %d positions, not %d", MOST_NODES, search.nodes);
    search.me = game.order[0];
    for (int cell = 0; cell < game.at.board->cells; cell++)
        for (int bit = 0; bit < BITS; bit++)
            search.fish[bit] |= (uint64_t)(game.at.fish[cell] >> bit & 1) << cell;
    start_long(&search.call);
    int count = best_first(&search, &game, steps);
    end_long(&search.call);
    if (search.call.stopped)
        return NULL;
    if (!count)
        Py_RETURN_NONE;
    return step_result(&game, steps[0]);
}
