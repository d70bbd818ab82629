/* Declare what the files for Fish share: boards, positions and games. */

#ifndef FISH_H
#define FISH_H

#include "kernels.h"

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

/* Read a position from these arguments; 0 with an exception if it is invalid. `fish` has three bits a cell. */
int read_position(Position *into, int rows, int columns, const char *fish, Py_ssize_t size, uint64_t free,
                  PyObject *penguins);

/* The cells that a penguin can move to. */
uint64_t reach(const Board *board, int cell, uint64_t free);

/* A game that is played on from a position. */
typedef struct {
    Position at;
    int scores[SEATS];
    int order[SEATS]; /* the seats still in, starting with the next to move */
    int in;           /* the number of seats still in */
    int each;         /* how many penguins a player places; 0: all are placed */
} Game;

/* Read the seats still in, and the scores; 0 with an exception if they are invalid. */
int read_order(Game *into, PyObject *order);
int read_scores(Game *into, PyObject *scores);

/* The next seat in the order is on turn. */
void next_seat(Game *game);

/* Play at random to the end, with the dice of this number. */
void play_out(Game *game, uint64_t seed, int number);

/* A penguin of the seat on turn moves to a cell; with the slot PLACED, one is placed there. */
typedef struct {
    int8_t slot, to;
    int worth;
} Step;

/* The most steps: up to six lines from penguins end on each free cell. */
enum { MOST_STEPS = RAYS * CELLS, PLACED = -1 };

/* List the steps of the seat on turn, those to the most fish first, and return their number. */
int steps_of(const Game *game, Step *steps);

/* Sort steps by worth, the highest first; the sort is stable. */
void sort_steps(Step *steps, int count);

/* The game after a step; the seat on turn can act, unless the game is over. */
Game after_step(const Game *game, Step step);

/* A step for Python: the cells from and to which it leads, with -1 for the first if a penguin is placed. */
PyObject *step_result(const Game *game, Step step);

#endif
