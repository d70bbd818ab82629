/* Declare what the kernels share: Python's limited API, reading arguments, and interrupting long calls. */

#ifndef KERNELS_H
#define KERNELS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000 /* one binary for Python 3.11 and later */
#include <Python.h>
#include <stdint.h>

/* The functions for Python. They check all arguments before use, and raise if they are invalid. */
PyObject *fish_best_move(PyObject *module, PyObject *arguments);
PyObject *fish_playouts(PyObject *module, PyObject *arguments);
PyObject *fish_text(PyObject *module, PyObject *arguments);
PyObject *fish_sampling(PyObject *module, PyObject *arguments);
PyObject *fish_territory(PyObject *module, PyObject *arguments);
PyObject *tsuro_best_lay(PyObject *module, PyObject *arguments);
PyObject *tsuro_best_future(PyObject *module, PyObject *arguments);
PyObject *q_best_placement(PyObject *module, PyObject *arguments);
PyObject *q_playouts(PyObject *module, PyObject *arguments);

/* Read a mask for PyArg_ParseTuple, whose own format K ignores overflow. */
int read_mask(PyObject *number, void *mask);

/* Read the numbers of a tuple, each from `least` to `most`; return their count, or -1 with an exception. */
int read_numbers(PyObject *numbers, int *into, int room, long least, long most);

/* A long call that releases the interpreter from `start_long` to `end_long`; it must check often whether it is
   `interrupted`, after which its result is ignored. */
typedef struct {
    long asked;
    int stopped;
    PyThreadState *thread;
} Long;

static inline void start_long(Long *call) { call->thread = PyEval_SaveThread(); }
static inline void end_long(Long *call) { PyEval_RestoreThread(call->thread); }
int interrupted(Long *call);

static inline int lowest(uint64_t mask) { return __builtin_ctzll(mask); }
static inline int highest(uint64_t mask) { return 63 - __builtin_clzll(mask); }

#endif
