/* List what can be done in a game of Fish, and do it, as `fairplay.games.fish.steps` does. */

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

int steps_of(const Game *game, Step *steps) {
    const Position *at = &game->at;
    int count = 0;
    if (!game->in)
        return 0;
    const Penguins *mine = &at->penguins[game->order[0]];
    for (int slot = game->each ? PLACED : 0; slot < (game->each ? 0 : mine->count); slot++) {
        uint64_t reached = slot == PLACED ? at->free : reach(at->board, mine->cells[slot], at->free);
        for (; reached; reached &= reached - 1) {
            int to = lowest(reached);
            steps[count++] = (Step){(int8_t)slot, (int8_t)to, at->fish[to]};
        }
    }
    sort_steps(steps, count);
    return count;
}

static int is_stuck(const Position *at, const Penguins *penguins) {
    for (int slot = 0; slot < penguins->count; slot++)
        if (at->board->near[penguins->cells[slot]] & at->free)
            return 0;
    return 1;
}

Game after(const Game *game, Step step) {
    Game then = *game;
    int seat = then.order[0];
    Penguins *mine = &then.at.penguins[seat];
    if (step.slot == PLACED) {
        mine->cells[mine->count++] = step.to;
    } else {
        then.scores[seat] += then.at.fish[mine->cells[step.slot]];
        mine->cells[step.slot] = step.to;
    }
    then.at.free ^= 1ull << step.to;
    next_seat(&then);
    if (then.at.penguins[then.order[0]].count >= then.each)
        then.each = 0;
    for (int skipped = 0; !then.each && skipped < then.in && is_stuck(&then.at, &then.at.penguins[then.order[0]]); skipped++)
        next_seat(&then);
    return then;
}

PyObject *told(const Game *game, Step step) {
    int start = step.slot == PLACED ? -1 : game->at.penguins[game->order[0]].cells[step.slot];
    return Py_BuildValue("ii", start, step.to);
}
