/* Write the JSON of a position of Fish; see `fairplay.games.fish.codec`. */

#include "fish.h"
#include <string.h>

enum { LONGEST_WORD = 16, NUMBER = 11 }; /* letters, and those of any int */
/* An upper bound: the frame, each player, and each cell with its fish and a penguin. */
enum { MOST_TEXT = 256 + SEATS * (64 + LONGEST_WORD + NUMBER) + CELLS * 16 };

typedef struct {
    char *end;
    char text[MOST_TEXT];
} Text;

static void write_words(Text *text, const char *words, size_t length) {
    memcpy(text->end, words, length);
    text->end += length;
}

#define WRITE(text, words) write_words(text, words, sizeof(words) - 1)

static void write_number(Text *text, int number) {
    char digits[NUMBER], *first = digits + NUMBER;
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    write_words(text, first, (size_t)(digits + NUMBER - first));
}

static void write_order(Text *text, const int *order, int in) {
    for (int place = 0; place < in; place++) {
        if (place)
            WRITE(text, ",");
        write_number(text, order[place]);
    }
}

static void write_board(Text *text, const Position *at, int columns) {
    for (int cell = 0; cell < at->board->cells; cell++) {
        *text->end++ = (char)('0' + at->fish[cell]);
        if ((cell + 1) % columns)
            WRITE(text, ",");
        else if (cell + 1 < at->board->cells)
            WRITE(text, "],[");
    }
}

static void write_penguins(Text *text, const Penguins *penguins, int columns) {
    for (int slot = 0; slot < penguins->count; slot++) {
        if (slot)
            WRITE(text, ",");
        WRITE(text, "[");
        write_number(text, penguins->cells[slot] / columns);
        WRITE(text, ",");
        write_number(text, penguins->cells[slot] % columns);
        WRITE(text, "]");
    }
}

/* A word of small letters; 0 with an exception if it is anything else. */
static int write_word(Text *text, PyObject *word) {
    Py_ssize_t length = 0;
    const char *letters = PyUnicode_Check(word) ? PyUnicode_AsUTF8AndSize(word, &length) : NULL;
    int fine = letters && length <= LONGEST_WORD;
    for (Py_ssize_t place = 0; fine && place < length; place++)
        fine = letters[place] >= 'a' && letters[place] <= 'z';
    if (fine)
        write_words(text, letters, (size_t)length);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "a word has up to %d small letters", LONGEST_WORD);
    return fine;
}

/* (seat, stage, order, each, rows, columns, fish, free, penguins, scores, colours): the seat is -1 for spectators. */
PyObject *fish_text(PyObject *module, PyObject *arguments) {
    (void)module;
    int seat, each, rows, columns, order[SEATS], scores[SEATS];
    const char *fish;
    Py_ssize_t size;
    uint64_t free;
    PyObject *stage, *orders, *penguins, *points, *colours;
    Position at;
    Text text = {.end = text.text};
    if (!PyArg_ParseTuple(arguments, "iOOiiiy#O&OOO", &seat, &stage, &orders, &each, &rows, &columns, &fish, &size,
                          read_mask, &free, &penguins, &points, &colours))
        return NULL;
    if (!read_position(&at, rows, columns, fish, size, free, penguins))
        return NULL;
    int in = read_numbers(orders, order, SEATS, 0, SEATS - 1);
    int given = in < 0 ? -1 : read_numbers(points, scores, SEATS, 0, INT_MAX);
    if (given < 0)
        return NULL;
    if (seat < -1 || each < 0 || given != at.seats || !PyTuple_Check(colours) || PyTuple_Size(colours) != given)
        return PyErr_Format(PyExc_ValueError, "a score and a colour for each seat, and nothing below 0");
    WRITE(&text, "{\"seat\":");
    if (seat < 0)
        WRITE(&text, "null");
    else
        write_number(&text, seat);
    WRITE(&text, ",\"stage\":\"");
    if (!write_word(&text, stage))
        return NULL;
    WRITE(&text, "\",\"order\":[");
    write_order(&text, order, in);
    WRITE(&text, "],\"each\":");
    write_number(&text, each);
    WRITE(&text, ",\"board\":[[");
    write_board(&text, &at, columns);
    WRITE(&text, "]],\"players\":[");
    for (int other = 0; other < at.seats; other++) {
        if (other)
            WRITE(&text, ",");
        WRITE(&text, "{\"colour\":\"");
        if (!write_word(&text, PyTuple_GetItem(colours, other)))
            return NULL;
        WRITE(&text, "\",\"score\":");
        write_number(&text, scores[other]);
        WRITE(&text, ",\"penguins\":[");
        write_penguins(&text, &at.penguins[other], columns);
        WRITE(&text, "]}");
    }
    WRITE(&text, "]}");
    return PyBytes_FromStringAndSize(text.text, text.end - text.text);
}
