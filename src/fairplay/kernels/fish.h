/* What the files for Fish share: boards, positions, and games that are played on. */

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

/* The position in these arguments; 0 with an exception if there cannot be such a one. `fish` has three bits a cell. */
int read_position(Position *into, int rows, int columns, const char *fish, Py_ssize_t size, uint64_t free,
                  PyObject *penguins);

/* The cells that a penguin can move to. */
uint64_t reach(const Board *board, int cell, uint64_t free);

/* A game from a position on. */
typedef struct {
    Position at;
    int scores[SEATS];
    int order[SEATS]; /* the seats still in, from whoever moves next */
    int in;           /* how many of them there are */
    int each;         /* how many penguins a player places; 0: that is over */
} Game;

/* Who is in the game from this position on, and what they have; 0 with an exception if that makes no sense. */
int read_order(Game *into, PyObject *order);
int read_scores(Game *into, PyObject *scores);

/* The next seat in the order is on turn. */
void next_seat(Game *game);

/* Play at random to the end, with the dice of this number. */
void play_out(Game *game, uint64_t seed, int number);

/* A penguin of whoever is on turn moves to a cell; without a slot, one is placed there. */
typedef struct {
    int8_t slot, to;
    int worth;
} Step;

/* As on each free cell end up to six lines from penguins, there are no more steps than this. */
enum { MOST_STEPS = RAYS * CELLS, PLACED = -1 };

/* What whoever is on turn can do, with most fish on the cell it leads to first; how many steps that are. */
int steps_of(const Game *game, Step *steps);

/* The most worth first; of equal ones none passes another. */
void sort_steps(Step *steps, int count);

/* The game after a step, with somebody on turn who can act, if there is anybody. */
Game after_step(const Game *game, Step step);

/* What Python is told: the cells from and to which a step leads, and -1 for the first where a penguin is placed. */
PyObject *step_told(const Game *game, Step step);

#endif
