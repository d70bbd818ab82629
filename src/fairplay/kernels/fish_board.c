/* Compute the tables of boards of Fish with up to 64 cells, and read positions on them. */

#include "fish.h"

/* From an even row and from an odd row: SE, S, SW, which rise, and N, NE, NW, which fall (Fish, rule 1.3). */
static const int STEPS[2][RAYS][2] = {
    {{1, 0}, {2, 0}, {1, -1}, {-2, 0}, {-1, 0}, {-1, -1}},
    {{1, 1}, {2, 0}, {1, 0}, {-2, 0}, {-1, 1}, {-1, 0}},
};

static void cast(Board *board, int rows, int columns, int cell, int ray) {
    int row = cell / columns, column = cell % columns, steps = 0;
    for (;;) {
        const int *step = STEPS[row % 2][ray];
        row += step[0];
        column += step[1];
        if (row < 0 || row >= rows || column < 0 || column >= columns)
            break;
        int to = row * columns + column;
        if (!steps)
            board->near[cell] |= 1ull << to;
        board->rays[cell][ray] |= 1ull << to;
        board->steps[cell][to] = (uint8_t)++steps;
    }
    board->length[cell][ray] = (uint8_t)steps;
}

uint64_t reach(const Board *board, int cell, uint64_t free) {
    const uint64_t *rays = board->rays[cell];
    uint64_t reached = 0;
    for (int ray = 0; ray < 3; ray++) {
        uint64_t stops = rays[ray] & ~free;
        reached |= rays[ray] & ((stops & -stops) - 1);
    }
    for (int ray = 3; ray < RAYS; ray++) {
        uint64_t stops = rays[ray] & ~free;
        reached |= stops ? rays[ray] & -(2ull << highest(stops)) : rays[ray];
    }
    return reached;
}

/* Made when it is first needed, and never changed or freed: other threads may read it. */
static const Board *board_of(int rows, int columns) {
    static Board *known[CELLS + 1][CELLS + 1];
    if (rows < 1 || columns < 1 || rows > CELLS || columns > CELLS || rows * columns > CELLS) {
        PyErr_Format(PyExc_ValueError, "no board of %d x %d; it has 1 to %d cells", rows, columns, CELLS);
        return NULL;
    }
    if (!known[rows][columns]) {
        Board *board = PyMem_Calloc(1, sizeof(Board));
        if (!board)
            return (const Board *)PyErr_NoMemory();
        board->cells = rows * columns;
        for (int cell = 0; cell < board->cells; cell++)
            for (int ray = 0; ray < RAYS; ray++)
                cast(board, rows, columns, cell, ray);
        known[rows][columns] = board;
    }
    return known[rows][columns];
}

static int read_fish(Position *position, const char *fish, Py_ssize_t size) {
    int cells = position->board->cells;
    if (size != (3 * cells + 7) / 8) {
        PyErr_SetString(PyExc_ValueError, "fish are three bits a cell");
        return 0;
    }
    for (int cell = 0; cell < cells; cell++) {
        int byte = 3 * cell / 8, two = (unsigned char)fish[byte];
        if (byte + 1 < size)
            two |= (unsigned char)fish[byte + 1] << 8;
        position->fish[cell] = (uint8_t)(two >> 3 * cell % 8 & 7);
        if (position->fish[cell] > MOST_FISH) {
            PyErr_Format(PyExc_ValueError, "%d fish on a tile, where %d are the most", position->fish[cell], MOST_FISH);
            return 0;
        }
    }
    return 1;
}

/* Each penguin is on another tile that is not free, so there are never more penguins than cells. */
static int read_penguins(Position *position, PyObject *penguins) {
    uint64_t taken = position->free;
    if (!PyTuple_Check(penguins) || PyTuple_Size(penguins) > SEATS) {
        PyErr_Format(PyExc_ValueError, "penguins come in a tuple for each of up to %d seats", SEATS);
        return 0;
    }
    position->seats = (int)PyTuple_Size(penguins);
    for (int seat = 0; seat < position->seats; seat++) {
        Penguins *theirs = &position->penguins[seat];
        theirs->count =
            read_numbers(PyTuple_GetItem(penguins, seat), theirs->cells, CELLS, 0, position->board->cells - 1);
        for (int slot = 0; slot < theirs->count; slot++) {
            uint64_t here = 1ull << theirs->cells[slot];
            if (taken & here) {
                PyErr_Format(PyExc_ValueError, "cell %d is free, or has two penguins", theirs->cells[slot]);
                return 0;
            }
            taken |= here;
        }
        if (theirs->count < 0)
            return 0;
    }
    return 1;
}

int read_position(Position *into, int rows, int columns, const char *fish, Py_ssize_t size, uint64_t free,
                  PyObject *penguins) {
    into->board = board_of(rows, columns);
    into->free = free;
    if (!into->board || !read_fish(into, fish, size))
        return 0;
    if (into->board->cells < CELLS && free >> into->board->cells) {
        PyErr_SetString(PyExc_ValueError, "more free cells than there are on the board");
        return 0;
    }
    return read_penguins(into, penguins);
}
