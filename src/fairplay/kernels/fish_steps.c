/* List and apply the steps of Fish; see `fairplay.games.fish.steps`. */

#include "fish.h"

void sort_steps(Step *steps, int count) {
    for (int place = 1; place < count; place++) {
        Step step = steps[place];
        int to = place;
        for (; to && steps[to - 1].worth < step.worth; to--)
            steps[to] = steps[to - 1];
        steps[to] = step;
    }
}

static int add_steps(const Position *at, int slot, uint64_t cells, Step *steps, int count) {
    for (; cells; cells &= cells - 1) {
        int to = lowest(cells);
        steps[count++] = (Step){(int8_t)slot, (int8_t)to, at->fish[to]};
    }
    return count;
}

int steps_of(const Game *game, Step *steps) {
    const Position *at = &game->at;
    const Penguins *mine = &at->penguins[game->order[0]];
    int count = 0;
    if (game->each)
        count = add_steps(at, PLACED, at->free, steps, count);
    else
        for (int slot = 0; slot < mine->count; slot++)
            count = add_steps(at, slot, reach(at->board, mine->cells[slot], at->free), steps, count);
    sort_steps(steps, count);
    return count;
}

static int is_stuck(const Game *game) {
    const Penguins *mine = &game->at.penguins[game->order[0]];
    for (int slot = 0; slot < mine->count; slot++)
        if (game->at.board->near[mine->cells[slot]] & game->at.free)
            return 0;
    return 1;
}

Game after_step(const Game *game, Step step) {
    Game then = *game;
    Penguins *mine = &then.at.penguins[then.order[0]];
    if (step.slot == PLACED) {
        mine->cells[mine->count++] = step.to;
    } else {
        then.scores[then.order[0]] += then.at.fish[mine->cells[step.slot]];
        mine->cells[step.slot] = step.to;
    }
    then.at.free ^= 1ull << step.to;
    next_seat(&then);
    if (then.at.penguins[then.order[0]].count >= then.each)
        then.each = 0;
    for (int skipped = 0; !then.each && skipped < then.in && is_stuck(&then); skipped++)
        next_seat(&then);
    return then;
}

PyObject *step_result(const Game *game, Step step) {
    int start = step.slot == PLACED ? -1 : game->at.penguins[game->order[0]].cells[step.slot];
    return Py_BuildValue("ii", start, step.to);
}
