/* Play Fish in C, without any library.
 *
 *     gcc -O2 -o fish_bot fish_bot.c
 *     fairplay check-bot fish ./fish_bot
 *     fairplay play fish me=./fish_bot greedy
 *
 * Change `choose`, below: it is asked for an action on each of your turns. The rest can stay as it is. Print what you
 * like to stderr, and `--bot-logs DIR` keeps it; stdout is for replies alone. `fairplay rules fish` prints the rules.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON as it came: a value is a pointer to where it begins in the text of a message. */
static const char *field(const char *object, const char *name); /* the value of a field; "null": there is no such one */
static const char *first(const char *list);                     /* the first value of a list; NULL: it is empty */
static const char *next(const char *value);                     /* the value behind it in a list; NULL: it was last */
static const char *entry(const char *list, int index);          /* the value at a place, from 0; NULL: there is none */
static int number(const char *value);                           /* the whole number that a value is */
static bool is(const char *value, const char *text);            /* is a value this text? */

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

/* What is said between the referee and a bot: a line of JSON comes in, and a line of JSON goes out with its nonce. */

/* Where a value has come to its end. */
static const char *behind(const char *value) {
    int depth = 0; /* of brackets */
    const char *at = value;
    do {
        if (*at == '"')
            for (at++; *at && *at != '"'; at++) at += *at == '\\' && at[1]; /* an escaped quote is no end */
        else if (*at == '[' || *at == '{')
            depth++;
        else if (*at == ']' || *at == '}')
            depth--;
        at += *at != '\0';
    } while (*at && (depth > 0 || !strchr(",:]}", *at)));
    return at;
}

static const char *without_spaces(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *first(const char *list) {
    const char *at = *list == '[' || *list == '{' ? without_spaces(list + 1) : "";
    return strchr("]}", *at) ? NULL : at; /* strchr finds the end of a text, too */
}

static const char *next(const char *value) {
    const char *at = behind(value);
    return *at == ',' ? without_spaces(at + 1) : NULL;
}

static const char *field(const char *object, const char *name) {
    for (const char *key = first(object), *value; key; key = next(value)) {
        const char *colon = behind(key);
        if (*colon != ':') break;
        value = without_spaces(colon + 1);
        if (is(key, name)) return value;
    }
    return "null";
}

static const char *entry(const char *list, int index) {
    const char *value = first(list);
    while (value && index-- > 0) value = next(value);
    return value;
}

static int number(const char *value) {
    return atoi(value);
}

static bool is(const char *value, const char *text) {
    size_t length = strlen(text);
    return *value == '"' && !strncmp(value + 1, text, length) && value[length + 1] == '"';
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        const char *type = field(line, "type"), *nonce = field(line, "nonce");
        if (*nonce != '"' || is(type, "closing")) continue; /* no reply is expected */
        printf("{\"nonce\":%.*s,\"answer\":", (int)(behind(nonce) - nonce), nonce);
        if (is(type, "take_turn"))
            choose(field(line, "view"));
        else
            printf("null");
        printf("}\n");
        fflush(stdout); /* or it is never read */
    }
    free(line);
    return 0;
}
