/* What the files for Q share: the map, and the lines in which a hand can be placed. */

#ifndef Q_H
#define Q_H

#include "kernels.h"

enum { NONE = 36, Q_LENGTH = 6, MOST_TILES = 8, TOO_LONG = Q_LENGTH + 1, FAR = 2 * (MOST_TILES - 1) };

#define ROW ((int64_t)1) /* the steps along a row and along a column */
#define COLUMN ((int64_t)1 << 34)

/* The tiles on the map: a table with open addressing, where NONE is on every cell that is not in it. */
typedef struct {
    int64_t *cells;
    uint8_t *kinds;
    uint64_t mask;
} Tiles;

/* A free cell of a line, and the tiles around it, up to the next free cells. */
typedef struct {
    int64_t cell;
    uint64_t fits;
    int before, before_traits, after, after_traits, across, across_traits;
    int place;    /* among all spots, which lines are listed by */
    double value; /* what a tile here can add to a placement at most */
} FreeCell;

typedef struct {
    int64_t step;
    const FreeCell *spots;
    int count;
    int place; /* among all lines, for those with equal bounds */
    double bound;
} Lane;

/* Everything that the value of a place depends on, and its lines. */
typedef struct {
    Tiles tiles;
    int hand[MOST_TILES];
    int size;
    int q_bonus, finish_bonus;
    FreeCell *spots; /* in rows, then in columns */
    Lane *lanes;     /* the most promising first */
    int count;
} Geometry;

static inline int shape_of(int kind) { return kind / 6; }
static inline int colour_of(int kind) { return kind % 6; }
static inline int traits_of(int kind) { return 1 << shape_of(kind) | 1 << (6 + colour_of(kind)); }
static inline int is_whole(int traits) { return (traits & 63) == 63 || traits >> 6 == 63; }

static inline int could_be_q(int length, int traits) {
    return __builtin_popcount((unsigned)traits & 63) == length || __builtin_popcount((unsigned)traits >> 6) == length;
}

/* By the upper bits, as rows are too far apart to change the lower ones. */
static inline uint64_t place_of(int64_t cell) { return (uint64_t)cell * 0x9e3779b97f4a7c15ull >> 40; }

static inline int kind_at(const Tiles *tiles, int64_t cell) {
    for (uint64_t place = place_of(cell);; place++) {
        place &= tiles->mask;
        if (tiles->kinds[place] == NONE || tiles->cells[place] == cell)
            return tiles->kinds[place];
    }
}

/* Sort the places for a hand into lines; 0 with an exception if there is no such map, or no memory. */
int read_geometry(Geometry *geometry, PyObject *tiles, PyObject *edge);
void free_geometry(Geometry *geometry);

/* The spots of a line and the open cells that the hand may reach from them, ascending; how many there are. */
int with_open(const Geometry *geometry, const Lane *lane, FreeCell *into);

#endif
