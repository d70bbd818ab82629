/* Define the Python module of the kernels, and read arguments. */

#include "kernels.h"

int read_mask(PyObject *number, void *mask) {
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    *(uint64_t *)mask = value;
    return !(value == (unsigned long long)-1 && PyErr_Occurred());
}

int read_numbers(PyObject *numbers, int *into, int room, long least, long most) {
    if (!PyTuple_Check(numbers)) {
        PyErr_SetString(PyExc_TypeError, "numbers come in a tuple");
        return -1;
    }
    Py_ssize_t count = PyTuple_Size(numbers);
    if (count > room) {
        PyErr_Format(PyExc_ValueError, "%zd numbers, where %d are the most", count, room);
        return -1;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        long number = PyLong_AsLong(PyTuple_GetItem(numbers, place));
        if (number == -1 && PyErr_Occurred())
            return -1;
        if (number < least || number > most) {
            PyErr_Format(PyExc_ValueError, "%ld is not from %ld to %ld", number, least, most);
            return -1;
        }
        into[place] = (int)number;
    }
    return (int)count;
}

int interrupted(Long *call) {
    enum { BREATH = 1 << 16 }; /* signals are checked after so many calls */
    if (++call->asked % BREATH == 0) {
        PyEval_RestoreThread(call->thread);
        call->stopped |= PyErr_CheckSignals() != 0;
        call->thread = PyEval_SaveThread();
    }
    return call->stopped;
}

static PyMethodDef functions[] = {
    {"fish_best_move", fish_best_move, METH_VARARGS, "The cells of the best move; None: there is none."},
    {"fish_playouts", fish_playouts, METH_VARARGS, "The scores of random playouts."},
    {"fish_text", fish_text, METH_VARARGS, "A position as JSON."},
    {"fish_sampling", fish_sampling, METH_VARARGS, "The cells of the step with the best results in playouts, or None."},
    {"fish_territory", fish_territory, METH_VARARGS, "The cells of the step that wins the most territory, or None."},
    {"tsuro_best_lay", tsuro_best_lay, METH_VARARGS, "The number of the best option; -1: none is legal."},
    {"tsuro_best_future", tsuro_best_future, METH_VARARGS, "The best option in playouts; -1: none is legal."},
    {"q_best_placement", q_best_placement, METH_VARARGS, "The cells and kinds of the best placement, or None."},
    {"q_playouts", q_playouts, METH_VARARGS, "The value of playouts for the first seat."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef kernels = {
    PyModuleDef_HEAD_INIT, "_kernels", "Functions of the games in C.", -1, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModule_Create(&kernels); }
