/* Fish: what a bot in C sees and answers on its turn.
 *
 *   stage    "placing": print {"type":"place","at":[row,column]}
 *            "playing": print {"type":"move","from":[row,column],"to":[row,column]}
 *   seat     yours
 *   board    rows of tiles: 1 to 5 fish, 0 for a hole
 *   players  by seat: colour, score, and penguins as [[row,column],...]
 */
enum { SIDE = 100, MOST = SIDE * SIDE }; /* the most rows or columns of a board, and the most actions */

typedef struct {
    int row, column;
} Position;

typedef struct {
    Position from, to; /* a placement has no `from` */
} Action;

static int fish[SIDE][SIDE];    /* 0: there is no tile */
static bool vacant[SIDE][SIDE]; /* is there a tile, and no penguin on it? */
static Action actions[MOST];    /* all that are legal */
static int find_actions(const char *view);

/* Change this function: it chooses the action that ends on the most fish. */
static void choose(const char *view) {
    int count = find_actions(view), best = 0;
    for (int i = 1; i < count; i++) {
        Position here = actions[i].to, there = actions[best].to;
        if (fish[here.row][here.column] > fish[there.row][there.column]) best = i;
    }
    Position from = actions[best].from, to = actions[best].to;
    if (is(field(view, "stage"), "placing"))
        printf("{\"type\":\"place\",\"at\":[%d,%d]}", to.row, to.column);
    else
        printf("{\"type\":\"move\",\"from\":[%d,%d],\"to\":[%d,%d]}", from.row, from.column, to.row, to.column);
}

static Position read_position(const char *pair) {
    return (Position){number(entry(pair, 0)), number(entry(pair, 1))};
}

/* The next position in a direction. */
static Position step(Position from, int direction) {
    static const int steps[2][6][2] = { /* to the six tiles around one: from even rows, and from odd rows */
        {{-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {1, -1}, {-1, -1}},
        {{-2, 0}, {-1, 1}, {1, 1}, {2, 0}, {1, 0}, {-1, 0}},
    };
    const int *by = steps[from.row % 2][direction];
    return (Position){from.row + by[0], from.column + by[1]};
}

static bool is_free(Position at) {
    return at.row >= 0 && at.row < SIDE && at.column >= 0 && at.column < SIDE && vacant[at.row][at.column];
}

/* Read the board, find all legal actions, and return their number. */
static int find_actions(const char *view) {
    int count = 0, row = 0;
    memset(fish, 0, sizeof fish);
    memset(vacant, 0, sizeof vacant);
    for (const char *tiles = first(field(view, "board")); tiles && row < SIDE; tiles = next(tiles), row++) {
        int column = 0;
        for (const char *tile = first(tiles); tile && column < SIDE; tile = next(tile), column++) {
            fish[row][column] = number(tile);
            vacant[row][column] = fish[row][column] > 0;
        }
    }
    const char *players = field(view, "players");
    for (const char *player = first(players); player; player = next(player))
        for (const char *at = first(field(player, "penguins")); at; at = next(at)) {
            Position penguin = read_position(at);
            vacant[penguin.row][penguin.column] = false;
        }
    if (is(field(view, "stage"), "placing")) {
        for (Position at = {0, 0}; at.row < SIDE; at.row++)
            for (at.column = 0; at.column < SIDE; at.column++)
                if (is_free(at)) actions[count++] = (Action){at, at};
        return count;
    }
    const char *me = entry(players, number(field(view, "seat")));
    for (const char *at = first(field(me, "penguins")); at; at = next(at))
        for (int direction = 0; direction < 6; direction++) {
            Position from = read_position(at); /* in a straight line, as far as tiles are free */
            for (Position to = step(from, direction); is_free(to); to = step(to, direction))
                actions[count++] = (Action){from, to};
        }
    return count;
}
