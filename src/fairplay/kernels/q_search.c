/* Find the best placement of Q; see `fairplay.games.q.search`, which explains why the search is correct. */

#include <stdlib.h>
#include <string.h>

#include "q.h"

enum { WIDTH = 64, USES = 1 << MOST_TILES };
enum { MOST_WAYS = 2 * WIDTH * MOST_TILES, SLOTS = 4 * MOST_WAYS }; /* the runs at a cell, and those begun there */
enum { TRAILS = ENOUGH + MOST_WAYS, NOWHERE = -1, MOST_BONUS = 1000000000 };

/* The cell and the kind of the last tile, and where the one before it is kept. */
typedef struct {
    int64_t cell;
    int kind, before;
} Trail;

typedef struct {
    int64_t points;
    int trail;
} Way;

/* A run of tiles up to a free cell: what is used of the hand; the kind before the cell; what that one, if it is new,
   shares with the one before it; may the block end at an old tile; may it end at the cell; the length and traits. */
typedef struct {
    int used, last, shared, meets, stops, length, traits;
} Situation;

/* Where no run goes on, by what is used of the hand; in the order in which they were found, as in a dictionary. */
typedef struct {
    int uses[USES];
    Way ways[USES]; /* by what is used */
    uint8_t known[USES];
    int count;
} Idle;

/* The runs that have come to a cell, in the order in which they were found. */
typedef struct {
    Situation situations[MOST_WAYS];
    uint64_t keys[MOST_WAYS];
    Way ways[MOST_WAYS];
    int slots[SLOTS]; /* 0: free, or one more than the number of a run */
    int taken[MOST_WAYS]; /* slots, by runs */
    int count;
} Active;

struct Search {
    Geometry geometry;
    FreeCell *spots; /* of the line that is swept */
    double (*behind)[MOST_TILES + 1];
    int64_t most;
    int best; /* trail */
    int tried, enough;
    int trails;
    Trail trail[TRAILS];
    int kinds[MOST_TILES], different; /* of the hand, ascending */
    uint8_t use[USES][MOST_TILES];    /* what is used once this kind is, too; 0: there is none left */
    Idle idle, ended;
    Active active[2];
    Active *here, *beyond; /* at this spot, and at the next one: runs go no further in a step */
    double bounds[MOST_TILES + 1];
};

static int shared_by(int one, int other) {
    return one == NONE ? 0 : (shape_of(one) == shape_of(other)) + 2 * (colour_of(one) == colour_of(other));
}

/* The length and the traits of a run, as long as it can become a Q. */
static void set_part(Situation *run, int length, int traits) {
    int can = length <= Q_LENGTH && could_be_q(length, traits);
    run->length = can ? length : TOO_LONG;
    run->traits = can ? traits : 0;
}

static int points_for(const FreeCell *spot, int kind, int q_bonus) {
    if (!spot->across)
        return 2 + spot->after;
    int is_q = spot->across == Q_LENGTH - 1 && is_whole(spot->across_traits | traits_of(kind));
    return 3 + spot->after + spot->across + (is_q ? q_bonus : 0);
}

static void keep_idle(Idle *idle, int used, Way way) {
    if (!idle->known[used]) {
        idle->known[used] = 1;
        idle->uses[idle->count++] = used;
        idle->ways[used] = way;
    } else if (idle->ways[used].points < way.points)
        idle->ways[used] = way;
}

static uint64_t packed(const Situation *run) {
    return (uint64_t)run->used | (uint64_t)run->last << 8 | (uint64_t)run->shared << 14 | (uint64_t)run->meets << 16 |
           (uint64_t)run->stops << 17 | (uint64_t)run->length << 18 | (uint64_t)run->traits << 21;
}

static void keep_active(Active *active, const Situation *run, Way way) {
    uint64_t key = packed(run), slot = key * 0x9e3779b97f4a7c15ull >> 40;
    int number;
    while ((number = active->slots[slot % SLOTS]) && active->keys[number - 1] != key)
        slot++;
    if (number) {
        if (active->ways[number - 1].points < way.points)
            active->ways[number - 1] = way;
    } else if (active->count < MOST_WAYS) {
        active->situations[active->count] = *run;
        active->keys[active->count] = key;
        active->ways[active->count] = way;
        active->taken[active->count] = (int)(slot % SLOTS);
        active->slots[slot % SLOTS] = ++active->count;
    }
}

static void found(Search *search, int used, Way way) {
    if (used == (1 << search->geometry.size) - 1)
        way.points += search->geometry.finish_bonus;
    if (way.points > search->most) {
        search->most = way.points;
        search->best = way.trail;
    }
}

/* A run ends, if it may. A single tile is none (rule 4.2), and it can be a Q (rule 4.3). */
static void end(Search *search, const Situation *run, Way way) {
    if (!run->stops)
        return;
    way.points -= run->length == 1;
    if (run->length == Q_LENGTH && is_whole(run->traits))
        way.points += search->geometry.q_bonus;
    if (!search->ended.known[run->used] || search->ended.ways[run->used].points < way.points) {
        keep_idle(&search->ended, run->used, way);
        found(search, run->used, way);
    }
}

/* The run with this kind on the spot, and the old tiles behind it; 0: they do not go together. */
static int extended(const Search *search, const FreeCell *spot, int64_t step, const Situation *run, int kind,
                    int sharing, Situation *then) {
    const Tiles *tiles = &search->geometry.map->tiles;
    int closed = run->meets || (run->shared & sharing), traits = run->traits;
    if (spot->after) {
        if (!closed && !(sharing & shared_by(kind, kind_at(tiles, spot->cell + step))))
            return 0;
        *then = (Situation){.last = kind_at(tiles, spot->cell + step * spot->after), .stops = 1};
        set_part(then, run->length + 1 + spot->after, traits | traits_of(kind) | spot->after_traits);
    } else {
        *then = (Situation){.last = kind, .shared = closed ? 0 : sharing, .meets = closed};
        then->stops = run->stops || spot->across;
        set_part(then, run->length + 1, traits | traits_of(kind));
    }
    return 1;
}

/* Try each kind that fits on a spot; `next` is the spot behind it, or NULL. */
static void place(Search *search, const FreeCell *spot, const FreeCell *next, int64_t step, const Situation *run,
                  Way way) {
    int64_t target = spot->cell + step * (spot->after + 1);
    for (int number = 0; number < search->different; number++) {
        int kind = search->kinds[number], used = search->use[run->used][number];
        Situation then;
        if (!(spot->fits >> kind & 1) || !used)
            continue;
        int sharing = shared_by(run->last, kind);
        if (run->last != NONE && !sharing)
            continue;
        search->tried++;
        if (!extended(search, spot, step, run, kind, sharing, &then))
            continue;
        then.used = used;
        int64_t points = way.points + points_for(spot, kind, search->geometry.q_bonus);
        int bonus = then.length == TOO_LONG ? 0 : search->geometry.q_bonus;
        double bound = search->bounds[count_of(used)];
        if ((double)(points + bonus) + bound <= (double)search->most || search->trails == TRAILS)
            continue;
        Way further = {points, search->trails};
        search->trail[search->trails++] = (Trail){spot->cell, kind, way.trail};
        if (next && next->cell == target)
            keep_active(search->beyond, &then, further);
        else
            end(search, &then, further);
    }
}

/* Of many numbers those whose ways have the most points, the best first; of few all, as they are. */
static int best_of(int *numbers, int count, const Way *ways) {
    if (count <= WIDTH)
        return count;
    for (int kept = 0; kept < WIDTH; kept++) {
        int best = kept;
        for (int other = kept + 1; other < count; other++)
            if (ways[numbers[other]].points > ways[numbers[best]].points)
                best = other;
        int number = numbers[best];
        memmove(numbers + kept + 1, numbers + kept, sizeof(int) * (size_t)(best - kept)); /* equal ones stay in order */
        numbers[kept] = number;
    }
    return WIDTH;
}

static void go_on(Search *search, const FreeCell *spot, const FreeCell *next, int64_t step) {
    const Active *active = search->here;
    int numbers[MOST_WAYS], count = active->count;
    for (int number = 0; number < count; number++)
        numbers[number] = number;
    count = best_of(numbers, count, active->ways);
    for (int number = 0; number < count; number++) {
        const Situation *run = &active->situations[numbers[number]];
        if (spot->fits)
            place(search, spot, next, step, run, active->ways[numbers[number]]);
        end(search, run, active->ways[numbers[number]]);
    }
}

static void begin(Search *search, const FreeCell *spot, const FreeCell *next, int64_t step) {
    const Tiles *tiles = &search->geometry.map->tiles;
    Situation run = {.last = spot->before ? kind_at(tiles, spot->cell - step) : NONE};
    run.meets = !spot->before;
    run.stops = spot->before > 0;
    set_part(&run, spot->before, spot->before_traits);
    for (int number = 0; number < search->idle.count; number++) {
        Way way = search->idle.ways[run.used = search->idle.uses[number]];
        way.points += spot->before;
        place(search, spot, next, step, &run, way);
    }
}

static void clear(Idle *idle) {
    memset(idle->known, 0, sizeof idle->known);
    idle->count = 0;
}

static void rest(Search *search) {
    Idle *idle = &search->idle;
    int count = 0, uses[USES];
    for (int number = 0; number < search->ended.count; number++)
        keep_idle(idle, search->ended.uses[number], search->ended.ways[search->ended.uses[number]]);
    for (int number = 0; number < idle->count; number++) {
        int used = idle->uses[number];
        if ((double)idle->ways[used].points + search->bounds[count_of(used)] > (double)search->most)
            uses[count++] = used;
    }
    clear(idle);
    idle->count = best_of(uses, count, idle->ways);
    for (int number = 0; number < idle->count; number++)
        idle->known[idle->uses[number] = uses[number]] = 1;
}

static void clear_active(Active *active) {
    while (active->count)
        active->slots[active->taken[--active->count]] = 0;
}

/* For each spot, by the number of used tiles: the most points that the tiles left can add behind it. */
static void set_bounds(const Geometry *geometry, const FreeCell *spots, int count, double (*bounds)[MOST_TILES + 1]) {
    double highest[MOST_TILES + 1], sums[MOST_TILES + 1]; /* descending */
    int known = 0, size = geometry->size;
    for (int spot = count - 1; spot >= 0; spot--) {
        sums[0] = geometry->finish_bonus;
        for (int place = 0; place < known; place++)
            sums[place + 1] = sums[place] + highest[place];
        for (int used = 0; used <= size; used++)
            bounds[spot][used] = sums[size - used < known ? size - used : known];
        int place = known;
        for (; place && highest[place - 1] < spots[spot].value; place--)
            highest[place] = highest[place - 1];
        highest[place] = spots[spot].value;
        known += known < size;
    }
}

static void sweep(Search *search, int count, int64_t step) {
    const FreeCell *spots = search->spots;
    clear(&search->idle);
    clear_active(search->here);
    keep_idle(&search->idle, 0, (Way){0, NOWHERE});
    for (int number = 0; number < count && (search->idle.count || search->here->count); number++) {
        FreeCell spot = spots[number];
        const FreeCell *next = number + 1 < count ? &spots[number + 1] : NULL;
        memcpy(search->bounds, search->behind[number], sizeof search->bounds);
        if (search->tried >= search->enough)
            spot.fits = 0;
        clear(&search->ended);
        clear_active(search->beyond);
        go_on(search, &spot, next, step);
        begin(search, &spot, next, step);
        rest(search);
        Active *passed = search->here;
        search->here = search->beyond;
        search->beyond = passed;
    }
}

static int upwards(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

/* Of equal tiles the last one is used first. */
static void sort_kinds(Search *search) {
    const Geometry *geometry = &search->geometry;
    int sorted[MOST_TILES], size = geometry->size;
    memcpy(sorted, geometry->hand, sizeof sorted);
    qsort(sorted, (size_t)size, sizeof(int), upwards);
    search->different = 0;
    for (int place = 0; place < size; place++)
        if (!place || sorted[place] != sorted[place - 1])
            search->kinds[search->different++] = sorted[place];
    for (int used = 0; used < 1 << size; used++)
        for (int number = 0; number < search->different; number++) {
            search->use[used][number] = 0;
            for (int place = 0; place < size; place++)
                if (geometry->hand[place] == search->kinds[number] && !(used >> place & 1))
                    search->use[used][number] = (uint8_t)(used | 1 << place);
        }
}

Search *new_search(const Map *like, int q_bonus, int finish_bonus, int enough) {
    if (q_bonus < 0 || q_bonus > MOST_BONUS || finish_bonus < 0 || finish_bonus > MOST_BONUS)
        return PyErr_Format(PyExc_ValueError, "bonuses are from 0 to %d", MOST_BONUS), NULL;
    if (enough < 0 || enough > ENOUGH)
        return PyErr_Format(PyExc_ValueError, "from 0 to %d tiles are tried, not %d", ENOUGH, enough), NULL;
    Search *search = PyMem_Calloc(1, sizeof(Search));
    size_t room = (size_t)like->room * (1 + FAR) + 1;
    if (search) {
        search->geometry.q_bonus = q_bonus;
        search->geometry.finish_bonus = finish_bonus;
        search->enough = enough;
        search->here = &search->active[0];
        search->beyond = &search->active[1];
        search->spots = PyMem_Malloc(room * sizeof *search->spots);
        search->behind = PyMem_Malloc(room * sizeof *search->behind);
        if (make_geometry(&search->geometry, like) && search->spots && search->behind)
            return search;
        free_search(search);
    }
    PyErr_NoMemory();
    return NULL;
}

void free_search(Search *search) {
    free_geometry(&search->geometry);
    PyMem_Free(search->spots);
    PyMem_Free(search->behind);
    PyMem_Free(search);
}

/* From the highest bound down, until a bound is no better than what was found. */
int64_t best_placement(Search *search, const Map *map, const int *hand, int size, Placed *into, int *count) {
    Geometry *geometry = &search->geometry;
    geometry->map = map;
    geometry->size = size;
    memcpy(geometry->hand, hand, sizeof(int) * (size_t)size);
    sort_kinds(search);
    survey(geometry);
    search->most = search->tried = search->trails = *count = 0;
    search->best = NOWHERE;
    for (int lane = 0; lane < geometry->count; lane++) {
        const Lane *line = &geometry->lanes[lane];
        if (line->bound <= (double)search->most || search->tried > search->enough)
            break;
        int spots = with_open(geometry, line, search->spots);
        set_bounds(geometry, search->spots, spots, search->behind);
        sweep(search, spots, line->step);
    }
    for (int trail = search->best; trail != NOWHERE; trail = search->trail[trail].before)
        into[(*count)++] = (Placed){search->trail[trail].cell, search->trail[trail].kind};
    return search->most;
}

static PyObject *list_of(const Placed *placed, int count) {
    PyObject *list = PyList_New(0);
    for (int number = 0; list && number < count; number++) {
        PyObject *pair = Py_BuildValue("Li", (long long)placed[number].cell, placed[number].kind);
        if (!pair || PyList_Append(list, pair))
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* (tiles, edge, hand, q_bonus, finish_bonus, enough): kinds by their cells, the free cells beside them, ascending, and
   how many tiles are tried. */
PyObject *q_best_placement(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *tiles, *edge, *hand, *list = NULL;
    int kinds[MOST_TILES] = {0}, q_bonus, finish_bonus, enough, count;
    Map map = {0};
    Placed placed[MOST_TILES];
    if (!PyArg_ParseTuple(arguments, "OOOiii", &tiles, &edge, &hand, &q_bonus, &finish_bonus, &enough))
        return NULL;
    int size = read_numbers(hand, kinds, MOST_TILES, 0, NONE - 1);
    int fine = size >= 0 && read_map(&map, tiles, edge, 0);
    Search *search = fine ? new_search(&map, q_bonus, finish_bonus, enough) : NULL;
    if (search) {
        best_placement(search, &map, kinds, size, placed, &count);
        list = list_of(placed, count);
        free_search(search);
    }
    free_map(&map);
    return list;
}
