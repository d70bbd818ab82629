/* Search Fish by playouts; see `fairplay.games.fish.sampling`. */

#include "fish.h"

#include <stdlib.h>

enum { MOST_PLAYOUTS = 50000, EXPLORATION = 16 }; /* so many take so little time that they need no interruption */

/* A step and its results; its children are `count` nodes from `first` on, none until the second visit. */
typedef struct {
    Step step;
    int seat; /* that takes the step */
    int first, count;
    int visits;
    int64_t lead;  /* the sum of the leads of that seat at the end */
    int64_t reply; /* and of the leads of the seat that moved next */
} Node;

typedef struct {
    Node *nodes; /* the first is the root */
    int count, room;
    uint64_t seed;
} Tree;

/* Add the children of a node; 0: no memory. */
static int unfold(Tree *tree, int node, const Game *game) {
    Step steps[MOST_STEPS];
    int count = steps_of(game, steps);
    if (tree->count + count > tree->room) {
        int room = 2 * tree->room + MOST_STEPS;
        Node *nodes = realloc(tree->nodes, (size_t)room * sizeof(Node));
        if (!nodes)
            return 0;
        tree->nodes = nodes;
        tree->room = room;
    }
    tree->nodes[node].first = tree->count;
    tree->nodes[node].count = count;
    for (int place = 0; place < count; place++)
        tree->nodes[tree->count++] = (Node){.step = steps[place], .seat = game->order[0]};
    return 1;
}

static int root_of(int number) {
    int root = 0;
    for (int bit = 1 << 14; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= number)
            root |= bit;
    return root;
}

/* Floating-point results are the same as in Python to the last bit, so the choice is, too. */
static int most_promising(const Tree *tree, int node) {
    const Node *from = &tree->nodes[node];
    double spread = root_of(EXPLORATION * from->visits), most = 0.0;
    double usual = from->visits ? (double)from->reply / from->visits : 0.0;
    int best = -1;
    for (int child = from->first; child < from->first + from->count; child++) {
        const Node *to = &tree->nodes[child];
        double lead = to->visits ? (double)to->lead / to->visits : usual, hope = lead + spread / (1 + to->visits);
        if (best < 0 || hope > most) {
            most = hope;
            best = child;
        }
    }
    return best;
}

/* By how much a seat is ahead of the best of the others in the order of this game. */
static int lead_of(const Game *start, const int *scores, int seat) {
    int best = 0;
    for (int place = 0; place < start->in; place++) {
        int other = start->order[place];
        if (other != seat && scores[other] > best)
            best = scores[other];
    }
    return scores[seat] - best;
}

static int sample(Tree *tree, const Game *start, int number) {
    Game game = *start;
    int path[CELLS + 1] = {0}, length = 1, leads[SEATS]; /* each step takes a cell */
    for (int node = 0; tree->nodes[node].count;) {
        node = most_promising(tree, node);
        game = after_step(&game, tree->nodes[node].step);
        path[length++] = node;
        if (tree->nodes[node].visits == 1 && !unfold(tree, node, &game))
            return 0;
    }
    int next = game.order[0];
    play_out(&game, tree->seed, number);
    for (int seat = 0; seat < start->at.seats; seat++)
        leads[seat] = lead_of(start, game.scores, seat);
    while (length--) {
        Node *node = &tree->nodes[path[length]];
        node->visits++;
        node->lead += leads[node->seat];
        node->reply += leads[next];
        next = node->seat;
    }
    return 1;
}

/* Of equal ones the first. */
static Step most_tried(const Tree *tree) {
    const Node *root = tree->nodes, *best = root + root->first;
    for (const Node *child = best; child < root + root->first + root->count; child++)
        if (child->visits > best->visits)
            best = child;
    return best->step;
}

static PyObject *search_tree(Tree *tree, const Game *game, int playouts) {
    tree->count = tree->room = 1;
    tree->nodes = calloc(1, sizeof(Node));
    int fine = tree->nodes && unfold(tree, 0, game), any = fine && tree->nodes->count;
    Step step = {0};
    Py_BEGIN_ALLOW_THREADS;
    for (int number = 0; number < playouts && any && fine; number++)
        fine = sample(tree, game, number);
    Py_END_ALLOW_THREADS;
    if (any)
        step = most_tried(tree);
    free(tree->nodes);
    if (!fine)
        return PyErr_NoMemory();
    if (!any)
        Py_RETURN_NONE;
    return step_result(game, step);
}

/* (rows, columns, fish, free, penguins, scores, order, each, playouts, seed): `each` is how many penguins a player
   places, or 0 if all are placed. */
PyObject *fish_sampling(PyObject *module, PyObject *arguments) {
    (void)module;
    int rows, columns, playouts;
    const char *fish;
    Py_ssize_t size;
    uint64_t open;
    PyObject *penguins, *scores, *order;
    Game game = {0};
    Tree tree = {0};
    if (!PyArg_ParseTuple(arguments, "iiy#O&OOOiiO&", &rows, &columns, &fish, &size, read_mask, &open, &penguins,
                          &scores, &order, &game.each, &playouts, read_mask, &tree.seed))
        return NULL;
    if (!read_position(&game.at, rows, columns, fish, size, open, penguins) || !read_order(&game, order) ||
        !read_scores(&game, scores))
        return NULL;
    if (playouts < 0 || playouts > MOST_PLAYOUTS || !game.in)
        return PyErr_Format(PyExc_ValueError, "needs a seat, and 0 to %d playouts, not %d", MOST_PLAYOUTS, playouts);
    return search_tree(&tree, &game, playouts);
}
