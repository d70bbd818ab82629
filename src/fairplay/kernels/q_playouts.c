/* Play Q on to its end with the same dice as `fairplay.games.q.playouts`. */

#include <string.h>

#include "dice.h"
#include "q.h"

enum { MOST_TURNS = 12, FIRST = 3, SHARED = 1, AT_ONCE = 1 << 10, MOST_SCORE = 1 << 30 };

typedef struct {
    int kinds[MOST_TILES];
    int size;
} Hand;

/* The outlook: the first seat has acted, and must draw. */
typedef struct {
    Map map;
    Hand kept;
    int drawn, left, theirs, seats, begins, placed;
    int scores[SEATS];
    const uint8_t *unseen;
    Py_ssize_t count;
} Start;

typedef struct {
    Map map;
    Search *search;
    Hand hands[SEATS];
    int64_t scores[SEATS];
    int left;
    uint64_t dice;
} Game;

/* New tiles come first in a hand. */
static void draw(const Start *start, Game *game, Hand *hand, int count) {
    memmove(hand->kinds + count, hand->kinds, sizeof(int) * (size_t)hand->size);
    for (int place = 0; place < count; place++)
        hand->kinds[place] = start->unseen[below(&game->dice, (uint64_t)start->count)];
    hand->size += count;
}

static void take(Hand *hand, int kind) {
    int place = 0;
    while (hand->kinds[place] != kind)
        place++;
    hand->size--;
    memmove(hand->kinds + place, hand->kinds + place + 1, sizeof(int) * (size_t)(hand->size - place));
}

/* Make the best placement, or else an exchange if there are tiles for it; return the number of placed tiles. */
static int take_turn(const Start *start, Game *game, int seat) {
    Hand *hand = &game->hands[seat];
    Placed placed[MOST_TILES];
    int count, size = hand->size;
    game->scores[seat] += best_placement(game->search, &game->map, hand->kinds, size, placed, &count);
    for (int number = 0; number < count; number++) {
        put_down(&game->map, placed[number].cell, placed[number].kind);
        take(hand, placed[number].kind);
    }
    if (count && hand->size) {
        int fresh = count < game->left ? count : game->left;
        game->left -= fresh;
        draw(start, game, hand, fresh);
    } else if (!count && game->left >= size) {
        hand->size = 0;
        draw(start, game, hand, size);
    }
    return count;
}

/* The value for the first seat of a game that ends with these scores. */
static int playout_value(const int64_t *scores, int seats) {
    int result = FIRST;
    for (int seat = 1; seat < seats; seat++) {
        if (scores[seat] > scores[0])
            return 0;
        if (scores[seat] == scores[0])
            result = SHARED;
    }
    return result;
}

static int play(const Start *start, Game *game) {
    int placed = start->placed;
    copy_map(&game->map, &start->map);
    game->left = start->left;
    for (int seat = 0; seat < start->seats; seat++)
        game->scores[seat] = start->scores[seat];
    for (int seat = 1; seat < start->seats; seat++) {
        game->hands[seat].size = 0;
        draw(start, game, &game->hands[seat], start->theirs);
    }
    game->hands[0] = start->kept;
    draw(start, game, &game->hands[0], start->drawn);
    for (int turn = 1; turn <= MOST_TURNS; turn++) {
        int seat = turn % start->seats;
        if (seat == start->begins) {
            if (!placed) /* rule 5.1 */
                break;
            placed = 0;
        }
        int count = take_turn(start, game, seat);
        if (count && !game->hands[seat].size) /* rule 5.2 */
            break;
        placed |= count > 0;
    }
    return playout_value(game->scores, start->seats);
}

static PyObject *run_playouts(const Start *start, int q_bonus, int finish_bonus, int first, int count, uint64_t seed) {
    Game game = {0};
    long sum = 0;
    PyObject *total = NULL;
    if (make_map(&game.map, &start->map) && (game.search = new_search(&start->map, q_bonus, finish_bonus, ENOUGH))) {
        Py_BEGIN_ALLOW_THREADS;
        for (int number = first; number < first + count; number++) {
            game.dice = mixed(seed + (uint64_t)number);
            sum += play(start, &game);
        }
        Py_END_ALLOW_THREADS;
        total = PyLong_FromLong(sum);
        free_search(game.search);
    }
    free_map(&game.map);
    return total;
}

static int is_fine(const Start *start, int first, int count) {
    for (Py_ssize_t place = 0; place < start->count; place++)
        if (start->unseen[place] >= NONE) {
            PyErr_Format(PyExc_ValueError, "there is no kind %d", start->unseen[place]);
            return 0;
        }
    if (!start->count || start->drawn < 0 || start->drawn > MOST_TILES - start->kept.size || start->theirs < 0 ||
        start->theirs > MOST_TILES || start->left < 0)
        PyErr_Format(PyExc_ValueError, "hands have up to %d tiles, of kinds that were not seen yet", MOST_TILES);
    else if (start->seats < 1 || start->begins < 0 || start->begins >= start->seats)
        PyErr_Format(PyExc_ValueError, "one of the %d seats begins a round", start->seats);
    else if (first < 0 || first > INT32_MAX - AT_ONCE || count < 0 || count > AT_ONCE)
        PyErr_Format(PyExc_ValueError, "up to %d playouts at once", AT_ONCE);
    return !PyErr_Occurred();
}

/* (tiles, edge, kept, drawn, scores, left, theirs, unseen, begins, placed, q_bonus, finish_bonus, first, count, seed):
   run `count` playouts from number `first` on, in which the first seat has acted and draws. */
PyObject *q_playouts(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *tiles, *edge, *kept, *scores, *total = NULL;
    Start start = {0};
    int q_bonus, finish_bonus, first, count;
    uint64_t seed;
    if (!PyArg_ParseTuple(arguments, "OOOiOiiy#ipiiiiO&", &tiles, &edge, &kept, &start.drawn, &scores, &start.left,
                          &start.theirs, &start.unseen, &start.count, &start.begins, &start.placed, &q_bonus,
                          &finish_bonus, &first, &count, read_mask, &seed))
        return NULL;
    start.kept.size = read_numbers(kept, start.kept.kinds, MOST_TILES, 0, NONE - 1);
    if (start.kept.size < 0)
        return NULL;
    start.seats = read_numbers(scores, start.scores, SEATS, 0, MOST_SCORE);
    if (start.seats < 0 || !is_fine(&start, first, count))
        return NULL;
    if (read_map(&start.map, tiles, edge, MOST_TURNS * MOST_TILES))
        total = run_playouts(&start, q_bonus, finish_bonus, first, count, seed);
    free_map(&start.map);
    return total;
}
