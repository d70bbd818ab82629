/* Implement the map of Q; see `fairplay.games.q.board`. */

#include <string.h>

#include "q.h"

#define FARTHEST ((int64_t)1 << 61) /* the largest cell, so that some steps from there do not overflow */

static void put(Tiles *tiles, int64_t cell, int kind) {
    uint64_t place = place_of(cell) & tiles->mask;
    while (tiles->kinds[place] != NONE)
        place = (place + 1) & tiles->mask;
    tiles->cells[place] = cell;
    tiles->kinds[place] = (uint8_t)kind;
}

static int read_cell(PyObject *number, int64_t *cell) {
    *cell = PyLong_AsLongLong(number);
    if (!PyErr_Occurred() && (*cell < -FARTHEST || *cell > FARTHEST))
        PyErr_SetString(PyExc_OverflowError, "a cell is too far away");
    return !PyErr_Occurred();
}

static int read_tiles(Tiles *tiles, PyObject *dictionary) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(dictionary, &position, &key, &value)) {
        int64_t cell;
        if (!PyLong_Check(key) || !PyLong_Check(value)) { /* converting another type may change the dictionary */
            PyErr_SetString(PyExc_TypeError, "cells and kinds are numbers");
            return 0;
        }
        long kind = PyLong_AsLong(value);
        if (PyErr_Occurred() || !read_cell(key, &cell))
            return 0;
        if (kind < 0 || kind >= NONE) {
            PyErr_Format(PyExc_ValueError, "there is no kind %ld", kind);
            return 0;
        }
        put(tiles, cell, (int)kind);
    }
    return 1;
}

static int read_edge(Map *map, PyObject *edge) {
    for (int place = 0; place < map->edges; place++) {
        int64_t *cell = &map->edge[place];
        if (!read_cell(PyTuple_GetItem(edge, place), cell))
            return 0;
        if ((place && *cell <= cell[-1]) || kind_at(&map->tiles, *cell) != NONE) {
            PyErr_SetString(PyExc_ValueError, "the edge has free cells, in ascending order");
            return 0;
        }
    }
    return 1;
}

static int make_room(Map *map, uint64_t room, int edges) {
    map->tiles.mask = room - 1;
    map->room = edges;
    map->tiles.cells = PyMem_Malloc(room * sizeof(int64_t));
    map->tiles.kinds = PyMem_Malloc(room);
    map->edge = PyMem_Malloc(sizeof(int64_t) * (size_t)(edges + 1));
    if (map->tiles.cells && map->tiles.kinds && map->edge)
        return 1;
    PyErr_NoMemory();
    return 0;
}

int read_map(Map *map, PyObject *tiles, PyObject *edge, int more) {
    if (!PyDict_Check(tiles)) {
        PyErr_SetString(PyExc_TypeError, "tiles come in a dictionary");
        return 0;
    }
    if (!PyTuple_Check(edge) || PyTuple_Size(edge) > INT32_MAX / 64) {
        PyErr_SetString(PyExc_TypeError, "the edge is a tuple");
        return 0;
    }
    uint64_t room = 16;
    while (room < 2 * (uint64_t)(PyDict_Size(tiles) + more))
        room *= 2;
    map->edges = (int)PyTuple_Size(edge);
    if (!make_room(map, room, map->edges + 4 * more))
        return 0;
    memset(map->tiles.kinds, NONE, room);
    return read_tiles(&map->tiles, tiles) && read_edge(map, edge);
}

int make_map(Map *map, const Map *like) { return make_room(map, like->tiles.mask + 1, like->room); }

void copy_map(Map *to, const Map *from) {
    size_t room = from->tiles.mask + 1;
    memcpy(to->tiles.cells, from->tiles.cells, room * sizeof(int64_t));
    memcpy(to->tiles.kinds, from->tiles.kinds, room);
    memcpy(to->edge, from->edge, sizeof(int64_t) * (size_t)from->edges);
    to->edges = from->edges;
}

/* The index of a cell in the edge, or where it must be inserted. */
static int place_in(const Map *map, int64_t cell) {
    int low = 0, high = map->edges;
    while (low < high) {
        int middle = (low + high) / 2;
        if (map->edge[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void put_down(Map *map, int64_t cell, int kind) {
    const int64_t around[] = {-COLUMN, -ROW, ROW, COLUMN};
    int place = place_in(map, cell);
    put(&map->tiles, cell, kind);
    if (place < map->edges && map->edge[place] == cell)
        memmove(map->edge + place, map->edge + place + 1, sizeof(int64_t) * (size_t)(--map->edges - place));
    for (int side = 0; side < 4; side++) {
        int64_t near = cell + around[side];
        place = place_in(map, near);
        if (kind_at(&map->tiles, near) != NONE || (place < map->edges && map->edge[place] == near))
            continue;
        memmove(map->edge + place + 1, map->edge + place, sizeof(int64_t) * (size_t)(map->edges++ - place));
        map->edge[place] = near;
    }
}

void free_map(Map *map) {
    PyMem_Free(map->tiles.cells);
    PyMem_Free(map->tiles.kinds);
    PyMem_Free(map->edge);
}
