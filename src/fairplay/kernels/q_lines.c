/* List the free places for a hand of Q by row and column; see `fairplay.games.q.lines`. */

#include <stdlib.h>
#include <string.h>

#include "q.h"

/* The kinds that fit between two neighbours on opposite sides, as a mask (rule 3.5). */
static uint64_t between(int one, int other) {
    const uint64_t colours = 0x3f, shapes = 0x041041041ull; /* those of the first shape, and of the first colour */
    uint64_t fits = 0;
    if (one == NONE && other == NONE)
        return (1ull << NONE) - 1;
    if (one == NONE || other == NONE) {
        int kind = one == NONE ? other : one;
        return colours << 6 * shape_of(kind) | shapes << colour_of(kind);
    }
    if (shape_of(one) == shape_of(other))
        fits |= colours << 6 * shape_of(one);
    if (colour_of(one) == colour_of(other))
        fits |= shapes << colour_of(one);
    return fits;
}

static uint64_t fitting(const Tiles *tiles, int64_t cell) {
    return between(kind_at(tiles, cell - ROW), kind_at(tiles, cell + ROW)) &
           between(kind_at(tiles, cell - COLUMN), kind_at(tiles, cell + COLUMN));
}

static int is_beside(const Tiles *tiles, int64_t cell) {
    return kind_at(tiles, cell - ROW) != NONE || kind_at(tiles, cell + ROW) != NONE ||
           kind_at(tiles, cell - COLUMN) != NONE || kind_at(tiles, cell + COLUMN) != NONE;
}

static int beside(const Tiles *tiles, int64_t cell, int64_t step, int *traits) {
    int length = 0, kind;
    *traits = 0;
    while ((kind = kind_at(tiles, cell += step)) != NONE) {
        length++;
        *traits |= traits_of(kind);
    }
    return length;
}

/* The fewest new tiles that make a Q along the line, with one of them here; 0: the hand has too few. */
static int short_of_q(const Geometry *geometry, const FreeCell *spot, int64_t step) {
    int kinds[2 * Q_LENGTH + 1], fewest = geometry->size + 1;
    for (int away = -Q_LENGTH; away <= Q_LENGTH; away++)
        kinds[Q_LENGTH + away] = kind_at(&geometry->map->tiles, spot->cell + step * away);
    for (int back = spot->before; back < Q_LENGTH - spot->after; back++) {
        const int *first = kinds + Q_LENGTH - back;
        int old = 0, traits = 0;
        if (first[-1] != NONE || first[Q_LENGTH] != NONE) /* the run would be longer */
            continue;
        for (int place = 0; place < Q_LENGTH; place++)
            if (first[place] != NONE) {
                old++;
                traits |= traits_of(first[place]);
            }
        if (Q_LENGTH - old < fewest && could_be_q(old, traits))
            fewest = Q_LENGTH - old;
    }
    return fewest <= geometry->size ? fewest : 0;
}

static double value_of(const Geometry *geometry, const FreeCell *spot, int64_t step) {
    int along = spot->before + spot->after, needed;
    double points = 2 + along + (spot->across ? 1 + spot->across : 0);
    if (spot->across == Q_LENGTH - 1 && could_be_q(spot->across, spot->across_traits))
        points += geometry->q_bonus;
    if (along < Q_LENGTH && could_be_q(along, spot->before_traits | spot->after_traits))
        if ((needed = short_of_q(geometry, spot, step)))
            points += (double)geometry->q_bonus / needed;
    return points;
}

static int64_t row_of(int64_t cell) {
    int64_t moved = cell + COLUMN / 2, row = moved / COLUMN;
    return row - (moved % COLUMN < 0);
}

static int64_t column_of(int64_t cell) { return cell - row_of(cell) * COLUMN; }

static int by_column(const void *one, const void *other) {
    int64_t a = ((const FreeCell *)one)->cell, b = ((const FreeCell *)other)->cell;
    int64_t left = column_of(a), right = column_of(b);
    return left != right ? (left > right) - (left < right) : (a > b) - (a < b);
}

static int downwards(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

static int by_bound(const void *one, const void *other) {
    const Lane *a = one, *b = other;
    return a->bound != b->bound ? (a->bound < b->bound) - (a->bound > b->bound) : a->place - b->place;
}

/* The most points of a placement whose spots can add these values. */
static double bound_of(const Geometry *geometry, double *values, int count) {
    int most = count < geometry->size ? count : geometry->size;
    double sum = 0, each = 2 + (double)geometry->q_bonus / 2;
    qsort(values, (size_t)count, sizeof(double), downwards);
    for (int place = 0; place < most; place++)
        sum += values[place];
    return sum + (geometry->size - most) * each + geometry->finish_bonus;
}

static void add_lanes(Geometry *geometry, FreeCell *spots, int count, int64_t step) {
    double *values = geometry->values;
    int64_t (*line_of)(int64_t) = step == ROW ? row_of : column_of;
    for (int first = 0, end; first < count; first = end) {
        for (end = first; end < count && line_of(spots[end].cell) == line_of(spots[first].cell); end++)
            values[end - first] = spots[end].value = value_of(geometry, &spots[end], step);
        double bound = bound_of(geometry, values, end - first);
        geometry->lanes[geometry->count++] = (Lane){step, spots + first, end - first, spots[first].place, bound};
    }
}

/* The same place in the row and in the column that cross there. */
static void look_around(const Geometry *geometry, int64_t cell, uint64_t fits, FreeCell *in_row, FreeCell *in_column) {
    const Tiles *tiles = &geometry->map->tiles;
    int traits[4], left = beside(tiles, cell, -ROW, traits), right = beside(tiles, cell, ROW, traits + 1);
    int up = beside(tiles, cell, -COLUMN, traits + 2), down = beside(tiles, cell, COLUMN, traits + 3);
    *in_row = (FreeCell){cell, fits, left, traits[0], right, traits[1], up + down, traits[2] | traits[3], 0, 0};
    *in_column = (FreeCell){cell, fits, up, traits[2], down, traits[3], left + right, traits[0] | traits[1], 0, 0};
}

/* List the spots in rows, and behind them as many in columns; return their number. */
static int list_spots(Geometry *geometry) {
    const Map *map = geometry->map;
    uint64_t wanted = 0;
    int count = 0;
    for (int place = 0; place < geometry->size; place++)
        wanted |= 1ull << geometry->hand[place];
    for (int place = 0; place < map->edges; place++) {
        uint64_t fits = fitting(&map->tiles, map->edge[place]) & wanted;
        if (fits) {
            FreeCell *in_row = &geometry->spots[count], *in_column = in_row + map->edges;
            look_around(geometry, map->edge[place], fits, in_row, in_column);
            in_row->place = count;
            in_column->place = map->edges + count++;
        }
    }
    return count;
}

int make_geometry(Geometry *geometry, const Map *like) {
    size_t room = (size_t)like->room;
    geometry->spots = PyMem_Malloc(sizeof(FreeCell) * (2 * room + 1));
    geometry->lanes = PyMem_Malloc(sizeof(Lane) * (2 * room + 1));
    geometry->values = PyMem_Malloc(sizeof(double) * (room + 1));
    return geometry->spots && geometry->lanes && geometry->values;
}

void survey(Geometry *geometry) {
    int edges = geometry->map->edges, count = list_spots(geometry);
    geometry->count = 0;
    qsort(geometry->spots + edges, (size_t)count, sizeof(FreeCell), by_column);
    add_lanes(geometry, geometry->spots, count, ROW);
    add_lanes(geometry, geometry->spots + edges, count, COLUMN);
    qsort(geometry->lanes, (size_t)geometry->count, sizeof(Lane), by_bound);
}

void free_geometry(Geometry *geometry) {
    PyMem_Free(geometry->spots);
    PyMem_Free(geometry->lanes);
    PyMem_Free(geometry->values);
}

static int by_cell(const void *one, const void *other) {
    int64_t a = ((const FreeCell *)one)->cell, b = ((const FreeCell *)other)->cell;
    return (a > b) - (a < b);
}

int with_open(const Geometry *geometry, const Lane *lane, FreeCell *into) {
    const Tiles *tiles = &geometry->map->tiles;
    int count = 0, different = 0;
    for (int spot = 0; spot < lane->count; spot++) {
        into[count++] = lane->spots[spot];
        for (int64_t step = -lane->step; step <= lane->step; step += 2 * lane->step)
            for (int away = 1; away < geometry->size; away++) {
                FreeCell open = {.cell = lane->spots[spot].cell + step * away, .fits = (1ull << NONE) - 1};
                if (kind_at(tiles, open.cell) != NONE || is_beside(tiles, open.cell))
                    break;
                open.value = value_of(geometry, &open, lane->step);
                into[count++] = open;
            }
    }
    qsort(into, (size_t)count, sizeof(FreeCell), by_cell);
    for (int spot = 0; spot < count; spot++)
        if (!different || into[different - 1].cell != into[spot].cell)
            into[different++] = into[spot];
    return different;
}
