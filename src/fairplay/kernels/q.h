/* Declare what the files for Q share: the map, the lines for a hand, and the search for the best placement. */

#ifndef Q_H
#define Q_H

#include "kernels.h"

enum { ENOUGH = 8000 }; /* tiles tried in a search at most */
enum { SEATS = 4, NONE = 36, Q_LENGTH = 6, MOST_TILES = 8, TOO_LONG = Q_LENGTH + 1, FAR = 2 * (MOST_TILES - 1) };

#define ROW ((int64_t)1) /* the steps along a row and along a column */
#define COLUMN ((int64_t)1 << 34)

/* The tiles on the map: a table with open addressing, where NONE is on every cell that is not in it. */
typedef struct {
    int64_t *cells;
    uint8_t *kinds;
    uint64_t mask;
} Tiles;

/* The map, with room for more tiles. */
typedef struct {
    Tiles tiles;
    int64_t *edge; /* the free cells beside tiles, ascending */
    int edges, room;
} Map;

typedef struct {
    int64_t cell;
    int kind;
} Placed;

/* A free cell of a line, and the tiles around it, up to the next free cells. */
typedef struct {
    int64_t cell;
    uint64_t fits;
    int before, before_traits, after, after_traits, across, across_traits;
    int place;    /* among all spots, to sort lines with equal bounds */
    double value; /* the most points that a tile here can add to a placement */
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
    const Map *map;
    int hand[MOST_TILES];
    int size;
    int q_bonus, finish_bonus;
    FreeCell *spots; /* in rows, then in columns */
    Lane *lanes;     /* the most promising first */
    double *values;  /* of the spots of one line */
    int count;
} Geometry;

typedef struct Search Search;

static inline int shape_of(int kind) { return kind / 6; }
static inline int colour_of(int kind) { return kind % 6; }
static inline int traits_of(int kind) { return 1 << shape_of(kind) | 1 << (6 + colour_of(kind)); }
static inline int is_whole(int traits) { return (traits & 63) == 63 || traits >> 6 == 63; }

/* The number of bits of up to eight, by halves: not every processor has an instruction for it. */
static inline int count_of(int bits) {
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return counts[bits & 15] + counts[bits >> 4];
}

static inline int could_be_q(int length, int traits) {
    return count_of(traits & 63) == length || count_of(traits >> 6) == length;
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

/* Read a map from these arguments, with room for so many more tiles; 0 with an exception if it is invalid. */
int read_map(Map *map, PyObject *tiles, PyObject *edge, int more);
/* Make a map with as much room as another; 0 with an exception: no memory. */
int make_map(Map *map, const Map *like);
void copy_map(Map *to, const Map *from); /* of the same room */
void put_down(Map *map, int64_t cell, int kind);
void free_map(Map *map);

/* Allocate the lines of a map; 0: no memory. */
int make_geometry(Geometry *geometry, const Map *like);
/* Sort the places for a hand into lines. */
void survey(Geometry *geometry);
void free_geometry(Geometry *geometry);

/* List the spots of a line and the open cells that the hand may reach from them, ascending; return their number. */
int with_open(const Geometry *geometry, const Lane *lane, FreeCell *into);

/* Make a search on maps with as much room as this one that tries so many tiles; NULL with an exception. */
Search *new_search(const Map *like, int q_bonus, int finish_bonus, int enough);
/* The points for the best placement, 0 if there is none, and its tiles, from the last to the first. */
int64_t best_placement(Search *search, const Map *map, const int *hand, int size, Placed *into, int *count);
void free_search(Search *search);

#endif
