/* Play Fish at random to its end with the same dice as `Game.playouts`. */

#include "dice.h"
#include "fish.h"

enum { AT_ONCE = 1 << 20, MOST_SCORE = 1 << 30 };

/* The number of moves along each ray, of each penguin, and in total. */
typedef struct {
    int along[CELLS][RAYS];
    int of[CELLS];
    int total;
} Moves;

/* The number of moves up to the first of `stops`. Both cases are computed, as a branch would be mispredicted. */
static inline int count_along(const Board *board, int cell, int ray, uint64_t stops) {
    int stop = ray < 3 ? lowest(stops | 1ull << 63) : highest(stops | 1);
    int stopped = board->steps[cell][stop] - 1, length = board->length[cell][ray];
    return stops ? stopped : length;
}

static inline void count_moves(const Position *at, const Penguins *penguins, Moves *moves) {
    const Board *board = at->board;
    moves->total = 0;
    for (int slot = 0; slot < penguins->count; slot++) {
        int cell = penguins->cells[slot], count = 0;
        if (board->near[cell] & at->free)
            for (int ray = 0; ray < RAYS; ray++)
                count += moves->along[slot][ray] = count_along(board, cell, ray, board->rays[cell][ray] & ~at->free);
        moves->of[slot] = count;
        moves->total += count;
    }
}

/* The cell so many steps along a ray, from 0 on. */
static int cell_along(uint64_t mask, int ray, int steps) {
    if (ray < 3) {
        while (steps--)
            mask &= mask - 1;
        return lowest(mask);
    }
    while (steps--)
        mask ^= 1ull << highest(mask);
    return highest(mask);
}

void next_seat(Game *game) {
    int seat = game->order[0];
    for (int place = 1; place < game->in; place++)
        game->order[place - 1] = game->order[place];
    game->order[game->in - 1] = seat;
}

/* Rule 6: the penguins go, the tiles under them stay. Only a seat without a tile to place a penguin on is ejected. */
static void eject(Game *game) {
    next_seat(game);
    Penguins *theirs = &game->at.penguins[game->order[--game->in]];
    for (int slot = 0; slot < theirs->count; slot++)
        game->at.free |= 1ull << theirs->cells[slot];
    theirs->count = 0;
}

static void place(Game *game, uint64_t *dice) {
    Penguins *mine = &game->at.penguins[game->order[0]];
    if (!game->at.free) {
        eject(game);
        return;
    }
    int cell = cell_along(game->at.free, 0, (int)below(dice, (uint64_t)__builtin_popcountll(game->at.free)));
    mine->cells[mine->count++] = cell;
    game->at.free ^= 1ull << cell;
    next_seat(game);
}

static void move(Game *game, const Moves *moves, uint64_t *dice) {
    int seat = game->order[0], slot = 0, ray = 0;
    Penguins *mine = &game->at.penguins[seat];
    int chosen = (int)below(dice, (uint64_t)moves->total);
    while (chosen >= moves->of[slot])
        chosen -= moves->of[slot++];
    while (chosen >= moves->along[slot][ray])
        chosen -= moves->along[slot][ray++];
    int start = mine->cells[slot], to = cell_along(game->at.board->rays[start][ray], ray, chosen);
    game->scores[seat] += game->at.fish[start]; /* and it is a hole from now on, as it was not free */
    mine->cells[slot] = to;
    game->at.free ^= 1ull << to;
    next_seat(game);
}

void play_out(Game *game, uint64_t seed, int number) {
    Moves moves;
    uint64_t dice = mixed(seed + (uint64_t)number);
    while (game->in && game->at.penguins[game->order[0]].count < game->each)
        place(game, &dice);
    for (int stuck = 0; stuck < game->in;) {
        count_moves(&game->at, &game->at.penguins[game->order[0]], &moves);
        if (moves.total) {
            move(game, &moves, &dice);
            stuck = 0;
        } else {
            next_seat(game);
            stuck++;
        }
    }
}

static PyObject *tuple_of(const int *scores, int seats) {
    PyObject *tuple = PyTuple_New(seats);
    for (int seat = 0; tuple && seat < seats; seat++) {
        PyObject *score = PyLong_FromLong(scores[seat]);
        if (!score || PyTuple_SetItem(tuple, seat, score))
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *list_of(const int *scores, int seats, Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t number = 0; list && number < count; number++) {
        PyObject *tuple = tuple_of(scores + number * seats, seats);
        if (!tuple || PyList_SetItem(list, number, tuple))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *run_playouts(const Game *start, int first, int count, uint64_t seed) {
    int seats = start->at.seats, *scores = PyMem_Malloc(sizeof(int) * (size_t)(count * seats + 1));
    if (!scores)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS;
    for (int number = 0; number < count; number++) {
        Game game = *start;
        play_out(&game, seed, first + number);
        for (int seat = 0; seat < seats; seat++)
            scores[number * seats + seat] = game.scores[seat];
    }
    Py_END_ALLOW_THREADS;
    PyObject *list = list_of(scores, seats, count);
    PyMem_Free(scores);
    return list;
}

int read_order(Game *into, PyObject *order) {
    int seen = 0;
    into->in = read_numbers(order, into->order, SEATS, 0, into->at.seats - 1);
    for (int place = 0; place < into->in; place++)
        seen |= 1 << into->order[place];
    if (into->in >= 0 && __builtin_popcount((unsigned)seen) != into->in)
        PyErr_SetString(PyExc_ValueError, "a seat is twice in the order");
    return !PyErr_Occurred();
}

int read_scores(Game *into, PyObject *scores) {
    int given = read_numbers(scores, into->scores, SEATS, 0, MOST_SCORE);
    if (given >= 0 && given != into->at.seats)
        PyErr_SetString(PyExc_ValueError, "a score for each seat");
    return !PyErr_Occurred();
}

/* (rows, columns, fish, free, penguins, scores, order, each, first, count, seed): `each` is how many penguins a player
   places, or 0 if all are placed; run `count` playouts from number `first` on. */
PyObject *fish_playouts(PyObject *module, PyObject *arguments) {
    (void)module;
    int rows, columns, first, count;
    const char *fish;
    Py_ssize_t size;
    uint64_t free, seed;
    PyObject *penguins, *scores, *order;
    Game game = {0};
    if (!PyArg_ParseTuple(arguments, "iiy#O&OOOiiiO&", &rows, &columns, &fish, &size, read_mask, &free, &penguins,
                          &scores, &order, &game.each, &first, &count, read_mask, &seed))
        return NULL;
    if (!read_position(&game.at, rows, columns, fish, size, free, penguins) || !read_order(&game, order) ||
        !read_scores(&game, scores))
        return NULL;
    if (first < 0 || count < 0 || count > AT_ONCE)
        return PyErr_Format(PyExc_ValueError, "up to %d playouts at once", AT_ONCE);
    return run_playouts(&game, first, count, seed);
}
