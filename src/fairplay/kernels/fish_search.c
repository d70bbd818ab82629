/* Search Fish for the most fish; see `fairplay.games.fish.search`, which explains why the search is correct. */

#include "fish.h"

enum { MOST_TURNS = 64 };

typedef struct {
    Position at; /* seat 0 is mine, the others follow in the order in which they move */
    uint64_t at_least[MOST_FISH + 1];
    Long call;
} Search;

static int blocked(Search *search, uint64_t exits, uint64_t free, int mover) {
    if (!exits)
        return 1;
    int spare = search->at.seats - mover - __builtin_popcountll(exits);
    if (spare < 0)
        return 0;
    const Penguins *penguins = &search->at.penguins[mover];
    uint64_t reached = 0;
    for (int slot = 0; slot < penguins->count; slot++)
        reached |= reach(search->at.board, penguins->cells[slot], free);
    if (!reached)
        return blocked(search, exits, free, mover + 1);
    uint64_t choices[2] = {reached & exits, spare ? reached & ~exits : 0};
    for (int choice = 0; choice < 2; choice++)
        for (uint64_t targets = choices[choice]; targets; targets &= targets - 1) {
            uint64_t target = targets & -targets;
            if (blocked(search, exits & ~target, free ^ target, mover + 1))
                return 1;
        }
    return 0;
}

static int withstands_last(Search *search, uint64_t free, int mover, int need) {
    const Penguins *mine = &search->at.penguins[0];
    uint64_t exits = 0;
    for (int slot = 0; slot < mine->count; slot++)
        if (search->at.fish[mine->cells[slot]] >= need)
            exits |= search->at.board->near[mine->cells[slot]] & free;
    return exits && !blocked(search, exits, free, mover);
}

/* Could I collect so many in two turns if no other player moved? Yes may be wrong, no is right. */
static int alone(Search *search, uint64_t free, int need) {
    const Penguins *mine = &search->at.penguins[0];
    const uint64_t *near = search->at.board->near;
    const uint8_t *fish = search->at.fish;
    for (int slot = 0; slot < mine->count; slot++) {
        int cell = mine->cells[slot], left = need - fish[cell];
        if (!(near[cell] & free) || left > MOST_FISH)
            continue;
        if (left <= 0 || reach(search->at.board, cell, free) & search->at_least[left])
            return 1;
        for (int other = 0; other < mine->count; other++)
            if (other != slot && fish[mine->cells[other]] >= left && near[mine->cells[other]] & free)
                return 1;
    }
    return 0;
}

static int withstands(Search *search, uint64_t free, int mover, int turns, int need);

static int collects(Search *search, uint64_t free, int turns, int need) {
    Penguins *mine = &search->at.penguins[0];
    for (int slot = 0; slot < mine->count; slot++) {
        int cell = mine->cells[slot], left = need - search->at.fish[cell], enough = 0;
        uint64_t targets = reach(search->at.board, cell, free);
        if (targets && left <= 0)
            return 1;
        while (targets && !enough) {
            int to = highest(targets);
            targets ^= 1ull << to;
            mine->cells[slot] = to;
            enough = withstands(search, free ^ 1ull << to, 1, turns - 1, left);
        }
        mine->cells[slot] = cell;
        if (enough)
            return 1;
    }
    return 0;
}

/* Can I still collect so many, whatever the others do before my next turn? If interrupted, the answer is arbitrary. */
static int withstands(Search *search, uint64_t free, int mover, int turns, int need) {
    if (turns == 1)
        return withstands_last(search, free, mover, need);
    if (interrupted(&search->call) || (turns == 2 && !alone(search, free, need)))
        return 0;
    if (mover == search->at.seats)
        return collects(search, free, turns, need);
    const Penguins *mine = &search->at.penguins[0];
    Penguins *theirs = &search->at.penguins[mover];
    uint64_t close = 0, any = 0, ways[CELLS];
    for (int slot = 0; slot < mine->count; slot++)
        close |= search->at.board->near[mine->cells[slot]];
    for (int slot = 0; slot < theirs->count; slot++)
        any |= ways[slot] = reach(search->at.board, theirs->cells[slot], free);
    if (!any)
        return withstands(search, free, mover + 1, turns, need);
    for (int far = 0; far < 2; far++) /* first beside my penguins, where a move hurts most */
        for (int slot = 0; slot < theirs->count; slot++) {
            int cell = theirs->cells[slot], holds = 1;
            uint64_t targets = ways[slot] & (far ? ~close : close);
            while (targets && holds) {
                int to = highest(targets);
                targets ^= 1ull << to;
                theirs->cells[slot] = to;
                holds = withstands(search, free ^ 1ull << to, mover + 1, turns, need);
            }
            theirs->cells[slot] = cell;
            if (!holds)
                return 0;
        }
    return 1;
}

/* The first move by its start and then by its end that collects so many; -1: there is none. */
static int first_with(Search *search, const uint64_t *ways, int turns, int need) {
    Penguins *mine = &search->at.penguins[0];
    for (int start = 0; start < search->at.board->cells; start++)
        for (uint64_t targets = ways[start]; targets; targets &= targets - 1) {
            int to = lowest(targets), left = need - search->at.fish[start], slot = 0, enough = left <= 0;
            if (!enough && turns > 1) {
                while (mine->cells[slot] != start)
                    slot++;
                mine->cells[slot] = to;
                enough = withstands(search, search->at.free ^ 1ull << to, 1, turns - 1, left);
                mine->cells[slot] = start;
            }
            if (enough || search->call.stopped)
                return start * CELLS + to;
        }
    return -1;
}

static void leave_out_the_stuck(Position *at) {
    int kept = 1;
    for (int seat = 1; seat < at->seats; seat++) {
        uint64_t exits = 0;
        for (int slot = 0; slot < at->penguins[seat].count; slot++)
            exits |= at->board->near[at->penguins[seat].cells[slot]] & at->free;
        if (exits)
            at->penguins[kept++] = at->penguins[seat];
    }
    at->seats = kept;
}

static int best_move(Search *search, int turns) {
    const Penguins *mine = &search->at.penguins[0];
    uint64_t ways[CELLS] = {0};
    int move = -1;
    leave_out_the_stuck(&search->at);
    for (int slot = 0; slot < mine->count; slot++)
        ways[mine->cells[slot]] = reach(search->at.board, mine->cells[slot], search->at.free);
    for (int cell = 0; cell < search->at.board->cells; cell++)
        search->at_least[search->at.fish[cell]] |= 1ull << cell;
    for (int least = MOST_FISH; least; least--)
        search->at_least[least - 1] |= search->at_least[least];
    for (int need = MOST_FISH * turns; need >= 0 && move < 0; need--)
        move = first_with(search, ways, turns, need);
    return move;
}

/* (rows, columns, fish, free, penguins, turns): the penguins of the seat on turn come first. */
PyObject *fish_best_move(PyObject *module, PyObject *arguments) {
    (void)module;
    int rows, columns, turns;
    const char *fish;
    Py_ssize_t size;
    uint64_t free;
    PyObject *penguins;
    Search search = {0};
    if (!PyArg_ParseTuple(arguments, "iiy#O&Oi", &rows, &columns, &fish, &size, read_mask, &free, &penguins, &turns))
        return NULL;
    if (!read_position(&search.at, rows, columns, fish, size, free, penguins))
        return NULL;
    if (turns < 1 || turns > MOST_TURNS || !search.at.seats)
        return PyErr_Format(PyExc_ValueError, "needs a seat, and 1 to %d turns, not %d", MOST_TURNS, turns);
    start_long(&search.call);
    int move = best_move(&search, turns);
    end_long(&search.call);
    if (search.call.stopped)
        return NULL;
    if (move < 0)
        Py_RETURN_NONE;
    return Py_BuildValue("ii", move / CELLS, move % CELLS);
}
