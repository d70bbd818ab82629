/* Find the best tile to lay in Tsuro; see `fairplay.games.tsuro.outlook`. */

#include <string.h>

#include "tsuro.h"

enum { TURNS_AHEAD = 2 };

static const double PER_SQUARE = 0.05, PER_STEP = 0.25;
static const double CHOSEN[3] = {15.0 / 21, 5.0 / 21, 1.0 / 21};
static const double DRIVEN[7] = {1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7, 1.0 / 7};

static int16_t step(int size, int spot) {
    static const int STEPS[PORTS][3] = {{0, -1, 5}, {0, -1, 4}, {1, 0, 7},  {1, 0, 6},
                                        {0, 1, 1},  {0, 1, 0},  {-1, 0, 3}, {-1, 0, 2}}; /* Tsuro, rule 1.2 */
    const int *move = STEPS[spot % PORTS];
    int x = spot / PORTS % size + move[0], y = spot / PORTS / size + move[1];
    return (int16_t)(x < 0 || x >= size || y < 0 || y >= size ? OUT : PORTS * (y * size + x) + move[2]);
}

/* Made when it is first needed, and never changed or freed. */
static const int16_t *ahead_of(int size) {
    static int16_t *known[SIDE + 1];
    if (!known[size]) {
        int16_t *ahead = PyMem_Malloc(sizeof(int16_t) * (size_t)(PORTS * size * size));
        if (!ahead)
            return (const int16_t *)PyErr_NoMemory();
        for (int spot = 0; spot < PORTS * size * size; spot++)
            ahead[spot] = step(size, spot);
        known[size] = ahead;
    }
    return known[size];
}

/* Where an avatar comes to rest; the number of steps is limited, as invalid tiles could lead past its start. */
int follow(const Table *table, int start) {
    int spot = start, entry = 0;
    for (int left = PORTS * table->size * table->size; left && (entry = table->ahead[spot]) >= 0; left--) {
        int code = table->board[entry / PORTS];
        if (code == EMPTY)
            return spot;
        spot = (entry & -PORTS) | table->exits[PORTS * code + entry % PORTS];
        if (spot == start)
            return LOOP;
    }
    return entry < 0 ? OUT : LOOP;
}

Prospect prospect(Table *table, int code) {
    Prospect what = {.loops = 0};
    table->board[table->square] = (uint8_t)code;
    for (int seat = 0; seat < table->count; seat++) {
        int spot = table->avatars[seat];
        if (spot != OUT && table->ahead[spot] / PORTS == table->square)
            spot = follow(table, spot);
        what.avatars[seat] = spot;
        what.loops |= spot == LOOP;
    }
    what.loops_me = what.avatars[table->me] == LOOP;
    table->board[table->square] = EMPTY;
    return what;
}

static double expected_turns(const Table *table, int spot, int turns, const double *odds, int count) {
    double lives[PORTS], sum = 0.0;
    int entry = table->ahead[spot], ends = 0;
    if (!turns)
        return 0.0;
    for (int port = 0; port < PORTS; port++) {
        if (port == entry % PORTS)
            continue;
        int end = follow(table, (entry & -PORTS) | port), place = ends++;
        double life = end >= 0 ? 1 + expected_turns(table, end, turns - 1, CHOSEN, 3) : 0.0;
        for (; place && lives[place - 1] < life; place--)
            lives[place] = lives[place - 1];
        lives[place] = life;
    }
    for (int place = 0; place < count; place++)
        sum += odds[place] * lives[place];
    return sum;
}

int territory(const Table *table, int mine, const int *rivals, int count) {
    uint8_t claimed[SQUARES] = {0}; /* by 1: a rival, 2: me */
    int frontier[SQUARES], end = 0, squares = 0;
    for (int rival = 0; rival < count; rival++)
        if (!claimed[rivals[rival]]) {
            claimed[rivals[rival]] = 1;
            frontier[end++] = rivals[rival];
        }
    if (!claimed[mine]) {
        claimed[mine] = 2;
        frontier[end++] = mine;
    }
    for (int next = 0; next < end; next++) {
        squares += claimed[frontier[next]] == 2;
        for (int port = 0; port < PORTS; port += 2) {
            int entry = table->ahead[PORTS * frontier[next] + port], beside = entry / PORTS;
            if (entry >= 0 && table->board[beside] == EMPTY && !claimed[beside]) {
                claimed[beside] = claimed[frontier[next]];
                frontier[end++] = beside;
            }
        }
    }
    return squares;
}

int inward(const Table *table, int square) {
    int x = square % table->size, y = square / table->size, end = table->size - 1;
    int across = x < end - x ? x : end - x, down = y < end - y ? y : end - y;
    return across < down ? across : down;
}

static double worth(Table *table, int code, const Prospect *what) {
    int spot = what->avatars[table->me], rivals[AVATARS], count = 0, driven = 0;
    if (what->loops)
        return what->loops_me ? 0.0 : 1.0;
    if (spot == OUT)
        return 0.0;
    int mine = table->ahead[spot] / PORTS;
    for (int seat = 0; seat < table->count; seat++)
        if (seat != table->me && what->avatars[seat] != OUT) {
            rivals[count] = table->ahead[what->avatars[seat]] / PORTS;
            driven |= rivals[count++] == mine;
        }
    table->board[table->square] = (uint8_t)code;
    double turns = expected_turns(table, spot, TURNS_AHEAD, driven ? DRIVEN : CHOSEN, driven ? 7 : 3);
    int squares = territory(table, mine, rivals, count);
    table->board[table->square] = EMPTY;
    return turns + PER_SQUARE * squares + PER_STEP * inward(table, mine);
}

/* The first of the legal options (rules 4.3 to 4.5) with the highest value; -1: none is legal. */
static int best_lay(Table *table, const uint8_t *codes, int options) {
    enum { FINE = 1, SUICIDE = 2, LOOPS = 4 };
    Prospect whats[OPTIONS];
    int kinds[OPTIONS], seen = 0, best = -1;
    double most = 0;
    for (int option = 0; option < options; option++) {
        whats[option] = prospect(table, codes[option]);
        kinds[option] = whats[option].loops ? LOOPS : whats[option].avatars[table->me] == OUT ? SUICIDE : FINE;
        seen |= kinds[option];
    }
    if (seen == (SUICIDE | LOOPS))
        return -1;
    for (int option = 0; option < options; option++) {
        if (seen & FINE && kinds[option] != FINE)
            continue;
        double value = worth(table, codes[option], &whats[option]);
        if (best < 0 || value > most) {
            best = option;
            most = value;
        }
    }
    return best;
}

/* Every avatar faces an empty square. */
static int read_avatars(Table *table, PyObject *avatars) {
    table->count = read_numbers(avatars, table->avatars, AVATARS, OUT, PORTS * table->size * table->size - 1);
    for (int seat = 0; seat < table->count; seat++) {
        int entry = table->avatars[seat] == OUT ? 0 : table->ahead[table->avatars[seat]];
        if (table->avatars[seat] != OUT && (entry == OUT || table->board[entry / PORTS] != EMPTY)) {
            PyErr_SetString(PyExc_ValueError, "an avatar does not face an empty square");
            return 0;
        }
    }
    return table->count >= 0;
}

int are_below(const char *bytes, Py_ssize_t size, int limit, int or_this) {
    int fine = 1;
    for (Py_ssize_t place = 0; place < size; place++)
        fine &= (uint8_t)bytes[place] < limit || (uint8_t)bytes[place] == or_this;
    return fine;
}

int read_table(Table *table, const char *board, Py_ssize_t squares, PyObject *avatars, const char *exits,
               Py_ssize_t ends) {
    if (table->size < 1 || table->size > SIDE || squares != table->size * table->size || ends != PORTS * CODES) {
        PyErr_Format(PyExc_ValueError, "a board of up to %d x %d, and the exits of all codes", SIDE, SIDE);
        return 0;
    }
    if (!are_below(board, squares, CODES, EMPTY) || !are_below(exits, ends, PORTS, 0)) {
        PyErr_Format(PyExc_ValueError, "there are %d codes and %d ports", CODES, PORTS);
        return 0;
    }
    memcpy(table->board, board, (size_t)squares);
    table->exits = (const uint8_t *)exits;
    table->ahead = ahead_of(table->size);
    if (!table->ahead || !read_avatars(table, avatars))
        return 0;
    if (table->me < 0 || table->me >= table->count || table->avatars[table->me] == OUT) {
        PyErr_Format(PyExc_ValueError, "seat %d has no avatar", table->me);
        return 0;
    }
    table->square = table->ahead[table->avatars[table->me]] / PORTS;
    return 1;
}

/* (size, board, avatars, me, codes, exits): choose the best of these codes for the square before me. */
PyObject *tsuro_best_lay(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *board, *codes, *exits;
    Py_ssize_t squares, options, ends;
    PyObject *avatars;
    Table table;
    if (!PyArg_ParseTuple(arguments, "iy#Oiy#y#", &table.size, &board, &squares, &avatars, &table.me, &codes, &options,
                          &exits, &ends))
        return NULL;
    if (options < 1 || options > OPTIONS || !are_below(codes, options, CODES, 0))
        return PyErr_Format(PyExc_ValueError, "1 to %d options, of %d codes", OPTIONS, CODES);
    if (!read_table(&table, board, squares, avatars, exits, ends))
        return NULL;
    return PyLong_FromLong(best_lay(&table, (const uint8_t *)codes, (int)options));
}
