/* Search Tsuro by playouts; see `fairplay.games.tsuro.futures`. */

#include <string.h>

#include "dice.h"
#include "tsuro.h"

enum { TILES = 35, ROUNDS = 6, FIRST = 1000, LEAST_ROOM = 5, MOST_NODES = 1 << 20 };

/* A position that is played on: `me` and `square` of the table are those of the seat that lays a tile. */
typedef struct {
    Table table;
    int fallen; /* a mask of the seats that left the board in this round */
} Future;

typedef struct {
    uint8_t tiles[TILES];
    int left;
    uint64_t dice;
} Bag;

static int draw_tile(Bag *bag) {
    if (!bag->left)
        for (; bag->left < TILES; bag->left++)
            bag->tiles[bag->left] = (uint8_t)bag->left;
    int place = (int)below(&bag->dice, (uint64_t)bag->left), tile = bag->tiles[place];
    bag->tiles[place] = bag->tiles[--bag->left];
    return tile;
}

static int ways_on(const Table *table, int spot) {
    int entry = table->ahead[spot], ways = 0;
    for (int port = 0; port < PORTS; port++)
        ways += port != entry % PORTS && follow(table, (entry & -PORTS) | port) >= 0;
    return ways;
}

static int promise(Table *table, int code, const Prospect *what) {
    int spot = what->avatars[table->me], gone = 0;
    if (what->loops || spot == OUT)
        return 0;
    for (int seat = 0; seat < table->count; seat++)
        gone += table->avatars[seat] != OUT && what->avatars[seat] == OUT;
    table->board[table->square] = (uint8_t)code;
    int ways = ways_on(table, spot);
    table->board[table->square] = EMPTY;
    return 2 * ways + 2 * gone + inward(table, table->ahead[spot] / PORTS);
}

/* Which of the options are legal (rules 4.3 to 4.5), as a mask. */
static int legal_ones(const Table *table, const Prospect *whats) {
    int fine = 0, loops = 0, all = (1 << OPTIONS) - 1;
    for (int option = 0; option < OPTIONS; option++) {
        fine |= (!whats[option].loops && whats[option].avatars[table->me] != OUT) << option;
        loops |= (whats[option].loops != 0) << option;
    }
    return fine ? fine : loops == 0 || loops == all ? all : 0;
}

static void prospects(Table *table, const int *tiles, Prospect *whats) {
    for (int option = 0; option < OPTIONS; option++)
        whats[option] = prospect(table, 4 * tiles[option / 4] + option % 4);
}

static void take(Future *future, int code, const Prospect *what) {
    Table *table = &future->table;
    if (!what->loops)
        table->board[table->square] = (uint8_t)code;
    for (int seat = 0; seat < table->count; seat++) {
        int spot = !what->loops ? what->avatars[seat] : what->avatars[seat] == LOOP ? OUT : table->avatars[seat];
        if (spot == OUT && table->avatars[seat] != OUT)
            future->fallen |= 1 << seat;
        table->avatars[seat] = spot;
    }
}

static void face(Table *table, int seat) {
    table->me = seat;
    table->square = table->ahead[table->avatars[seat]] / PORTS;
}

static void lay_likely(Future *future, int seat, Bag *bag) {
    Table *table = &future->table;
    Prospect whats[OPTIONS];
    int tiles[2], best = -1, most = 0;
    tiles[0] = draw_tile(bag);
    tiles[1] = draw_tile(bag);
    face(table, seat);
    prospects(table, tiles, whats);
    int legal = legal_ones(table, whats);
    for (int option = 0; option < OPTIONS; option++) {
        if (!(legal >> option & 1))
            continue;
        int value = promise(table, 4 * tiles[option / 4] + option % 4, &whats[option]);
        if (best < 0 || value > most) {
            best = option;
            most = value;
        }
    }
    if (best < 0)
        table->avatars[seat] = OUT;
    else
        take(future, 4 * tiles[best / 4] + best % 4, &whats[best]);
}

static int alive(const Table *table, int *seats) {
    int count = 0;
    for (int seat = 0; seat < table->count; seat++)
        if (table->avatars[seat] != OUT)
            seats[count++] = seat;
    return count;
}

static long play(Future *future, int me, const int *next, int count, Bag *bag) {
    int waiting[AVATARS];
    long laid = 0;
    memcpy(waiting, next, sizeof(int) * (size_t)count);
    for (int left = ROUNDS; left >= 0; left--) {
        for (int place = 0; place < count; place++)
            if (future->table.avatars[waiting[place]] != OUT) {
                lay_likely(future, waiting[place], bag);
                laid++;
            }
        count = alive(&future->table, waiting);
        if (count <= 1 || future->table.avatars[me] == OUT || !left)
            break;
        future->fallen = 0;
    }
    return laid;
}

static int worth(const Future *future, int me) {
    const Table *table = &future->table;
    int seats[AVATARS], count = alive(table, seats), mine = 0, sum = 0;
    if (table->avatars[me] == OUT)
        return !count && future->fallen >> me & 1 ? FIRST / __builtin_popcount((unsigned)future->fallen) : 0;
    if (count == 1)
        return FIRST;
    for (int place = 0; place < count; place++) {
        int rivals[AVATARS], others = 0, spot = table->avatars[seats[place]];
        for (int other = 0; other < count; other++)
            if (other != place)
                rivals[others++] = table->ahead[table->avatars[seats[other]]] / PORTS;
        int room = LEAST_ROOM + territory(table, table->ahead[spot] / PORTS, rivals, others) + ways_on(table, spot);
        mine = seats[place] == me ? room : mine;
        sum += room;
    }
    return FIRST * mine / sum;
}

static Bag bag_without(const int *dealt, uint64_t dice) {
    Bag bag = {.left = 0, .dice = dice};
    for (int tile = 0; tile < TILES; tile++)
        if (tile != dealt[0] && tile != dealt[1])
            bag.tiles[bag.left++] = (uint8_t)tile;
    return bag;
}

static const uint8_t *exits_of(const Table *table, const int *dealt, int option) {
    return table->exits + PORTS * (4 * dealt[option / 4] + option % 4);
}

/* List the legal options without those that look like an earlier one; return their number. */
static int different(const Table *table, const int *dealt, int legal, int *options) {
    int count = 0;
    for (int option = 0; option < OPTIONS; option++) {
        const uint8_t *exits = exits_of(table, dealt, option);
        int fresh = legal >> option & 1;
        for (int place = 0; place < count; place++)
            fresh &= memcmp(exits, exits_of(table, dealt, options[place]), PORTS) != 0;
        if (fresh)
            options[count++] = option;
    }
    return count;
}

static int best_future(Table *table, const int *waiting, int count, const int *dealt, long nodes, uint64_t seed) {
    Prospect whats[OPTIONS];
    Future starts[OPTIONS];
    int options[OPTIONS], me = table->me, halvings = 0;
    long sums[OPTIONS] = {0}, used = 0;
    uint64_t number = 0;
    prospects(table, dealt, whats);
    int left = different(table, dealt, legal_ones(table, whats), options);
    for (int place = 0; place < left; place++) {
        Future *start = &starts[options[place]];
        *start = (Future){.table = *table};
        take(start, 4 * dealt[options[place] / 4] + options[place] % 4, &whats[options[place]]);
    }
    for (int some = left; some > 1; some = (some + 1) / 2)
        halvings++;
    for (int halving = 1; left > 1; halving++) {
        do {
            for (int place = 0; place < left; place++) {
                Future future = starts[options[place]];
                Bag bag = bag_without(dealt, mixed(seed + number));
                used += 1 + play(&future, me, waiting, count, &bag);
                sums[options[place]] += worth(&future, me);
            }
            number++;
        } while (used < nodes * halving / halvings);
        for (int next = 1; next < left; next++) { /* the best first; of equal ones, as they were */
            int option = options[next], place = next;
            for (; place && sums[options[place - 1]] < sums[option]; place--)
                options[place] = options[place - 1];
            options[place] = option;
        }
        left = (left + 1) / 2;
    }
    return left ? options[0] : -1;
}

/* (size, board, avatars, waiting, dealt, exits, nodes, seed): choose the tile and rotation with the best results for
   the first waiting seat, after so many tiles have been laid in playouts. */
PyObject *tsuro_best_future(PyObject *module, PyObject *arguments) {
    (void)module;
    const char *board, *exits;
    Py_ssize_t squares, ends;
    PyObject *avatars, *order, *tiles;
    int nodes, waiting[AVATARS], dealt[2], best;
    uint64_t seed;
    Table table;
    if (!PyArg_ParseTuple(arguments, "iy#OOOy#iO&", &table.size, &board, &squares, &avatars, &order, &tiles, &exits,
                          &ends, &nodes, read_mask, &seed))
        return NULL;
    int count = read_numbers(order, waiting, AVATARS, 0, AVATARS - 1);
    int given = count < 0 ? -1 : read_numbers(tiles, dealt, 2, 0, TILES - 1);
    if (given < 0)
        return NULL;
    if (!count || given != 2 || nodes < 1 || nodes > MOST_NODES)
        return PyErr_Format(PyExc_ValueError, "needs a waiting seat, two tiles, and 1 to %d nodes", MOST_NODES);
    table.me = waiting[0];
    if (!read_table(&table, board, squares, avatars, exits, ends))
        return NULL;
    for (int place = 0; place < count; place++)
        if (waiting[place] >= table.count)
            return PyErr_Format(PyExc_ValueError, "there is no seat %d", waiting[place]);
    Py_BEGIN_ALLOW_THREADS;
    best = best_future(&table, waiting + 1, count - 1, dealt, nodes, seed);
    Py_END_ALLOW_THREADS;
    return PyLong_FromLong(best);
}
