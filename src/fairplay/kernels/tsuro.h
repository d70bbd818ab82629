/* Declare what the files for Tsuro share: the table, prospects of tiles, and territory. */

#ifndef TSURO_H
#define TSURO_H

#include "kernels.h"

enum { SIDE = 30, SQUARES = SIDE * SIDE, AVATARS = 5, CODES = 140, OPTIONS = 8, PORTS = 8 };
enum { EMPTY = 255, OUT = -1, LOOP = -2 };

typedef struct {
    int size;
    const int16_t *ahead; /* spot to spot, or OUT */
    const uint8_t *exits; /* at 8 * code + port, the port at the other end */
    uint8_t board[SQUARES];
    int avatars[AVATARS];
    int count;
    int me;
    int square; /* the one before me */
} Table;

/* The avatars after a tile is laid. */
typedef struct {
    int avatars[AVATARS];
    int loops; /* is any avatar in an endless loop? */
    int loops_me;
} Prospect;

/* The spot where an avatar that starts from a spot comes to rest; or OUT, or LOOP. */
int follow(const Table *table, int start);

/* The prospect of a tile on the square before me. */
Prospect prospect(Table *table, int code);

/* The empty squares that I reach sooner than any rival; rivals come first, so that a tie goes to them. */
int territory(const Table *table, int mine, const int *rivals, int count);

/* How far a square is away from the rim. */
int inward(const Table *table, int square);

/* Read a table from the arguments of both kernels; 0 with an exception if it is invalid. */
int read_table(Table *table, const char *board, Py_ssize_t squares, PyObject *avatars, const char *exits,
               Py_ssize_t ends);

/* Is each byte below the limit, or this one? */
int are_below(const char *bytes, Py_ssize_t size, int limit, int or_this);

#endif
