/* What the kernels share: the limited API of Python, reading arguments, and giving way in long calls. */

#ifndef KERNELS_H
#define KERNELS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000 /* one binary for Python 3.11 and all that follow */
#include <Python.h>
#include <stdint.h>

/* What Python sees. Whatever it hands over is checked before it is used: what makes no sense raises. */
PyObject *fish_best_move(PyObject *module, PyObject *arguments);
PyObject *fish_playouts(PyObject *module, PyObject *arguments);
PyObject *fish_text(PyObject *module, PyObject *arguments);
PyObject *fish_sampling(PyObject *module, PyObject *arguments);
PyObject *fish_territory(PyObject *module, PyObject *arguments);
PyObject *tsuro_best_lay(PyObject *module, PyObject *arguments);
PyObject *tsuro_best_future(PyObject *module, PyObject *arguments);
PyObject *q_best_placement(PyObject *module, PyObject *arguments);
PyObject *q_playouts(PyObject *module, PyObject *arguments);

/* For PyArg_ParseTuple: a mask, as its own K does not mind what is too large. */
int read_mask(PyObject *number, void *mask);

/* The numbers of a tuple, each from `least` to `most`; how many there are, or -1 with an exception. */
int read_numbers(PyObject *numbers, int *into, int room, long least, long most);

/* A long call that lets other threads go on, from `start_long` to `end_long`; now and then it is to ask whether it is
   `interrupted`, and from then on any answer will do. */
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
