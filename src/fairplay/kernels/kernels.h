/* What the kernels share: the limited API of Python, reading arguments, and the boards of Fish. */

#ifndef KERNELS_H
#define KERNELS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000 /* one binary for Python 3.11 and all that follow */
#include <Python.h>
#include <stdint.h>

/* What Python sees. Whatever it hands over is checked before it is used: what makes no sense raises. */
PyObject *fish_best_move(PyObject *module, PyObject *arguments);
PyObject *fish_playouts(PyObject *module, PyObject *arguments);
PyObject *tsuro_best_lay(PyObject *module, PyObject *arguments);
PyObject *tsuro_best_future(PyObject *module, PyObject *arguments);
PyObject *q_best_placement(PyObject *module, PyObject *arguments);

/* For PyArg_ParseTuple: a mask, as its own K does not mind what is too large. */
int read_mask(PyObject *number, void *mask);

/* The numbers of a tuple, each from `least` to `most`; how many there are, or -1 with an exception. */
int read_numbers(PyObject *numbers, int *into, int room, long least, long most);

enum { CELLS = 64, RAYS = 6, SEATS = 4, MOST_FISH = 5 };

/* A size of board. Of the six rays from a cell the first three rise (cells grow, the lowest bit stops) and the others
   fall (the highest does), in the order in which `Grid.moves` goes through them. */
typedef struct {
    int cells;
    uint64_t near[CELLS];
    uint64_t rays[CELLS][RAYS];
    uint8_t steps[CELLS][CELLS]; /* how far it is to a cell on a line */
    uint8_t length[CELLS][RAYS];
} Board;

typedef struct {
    int count;
    int cells[CELLS];
} Penguins;

/* A position of Fish: `penguins` holds those of so many seats. */
typedef struct {
    const Board *board;
    uint8_t fish[CELLS];
    uint64_t free;
    int seats;
    Penguins penguins[SEATS];
} Position;

/* The position in these arguments; 0 with an exception if there cannot be such a one. `fish` has three bits a cell. */
int read_position(Position *into, int rows, int columns, const char *fish, Py_ssize_t size, uint64_t free,
                  PyObject *penguins);

static inline int lowest(uint64_t mask) { return __builtin_ctzll(mask); }
static inline int highest(uint64_t mask) { return 63 - __builtin_clzll(mask); }

#endif
