/* Play Fish in C, without any library: find the few fields that matter in each line by hand.
 *
 *     gcc -O2 -o fish fish.c && fairplay play fish ./fish greedy
 *
 * That is safe: the referee writes its JSON without spaces, and a quote inside a string as \", so what looks like
 * "nonce": can only be the name of a field. docs/protocol.md describes what is said, the game's RULES.md the game.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 100, SEATS = 4 }; /* at most */

static const int steps[2][6][2] = { /* to the six tiles around one: from even rows, and from odd rows */
    {{-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {1, -1}, {-1, -1}},
    {{-2, 0}, {-1, 1}, {1, 1}, {2, 0}, {1, 0}, {-1, 0}},
};

/* What stands behind a text, or nothing. */
static char *after(char *line, const char *text) {
    char *found = strstr(line, text);
    return found ? found + strlen(text) : "";
}

/* Print a legal action: put a penguin where the most fish are, or move one by a step to where the most are. */
static void choose(char *line) {
    int fish[SIDE][SIDE] = {{0}}, mine[SIDE][SIDE] = {{0}}; /* the fish on free tiles; where our penguins stand */
    int seat = atoi(after(line, "\"seat\":")), placing = strstr(line, "\"stage\":\"placing\"") != NULL;
    int row = -1, column = 0, best = 0, from[2] = {0}, to[2] = {0};

    for (char *at = after(line, "\"board\":["); *at && strncmp(at, "]]", 2); at++) { /* [[1,5,0],[2,2,3]] */
        if (*at == '[') row++, column = 0;
        if (*at >= '0' && *at <= '5') fish[row][column++] = *at - '0';
    }
    char *penguins = line;
    for (int player = 0; player < SEATS; player++) {
        penguins = after(penguins, "\"penguins\":["); /* [[0,1],[2,3]] */
        for (char *at = penguins; sscanf(at, "[%d,%d]", &row, &column) == 2; at = after(at, "]"), at += *at == ',')
            fish[row][column] = 0, mine[row][column] = player == seat;
    }
    for (row = 0; row < SIDE; row++)
        for (column = 0; column < SIDE; column++) {
            if (placing && fish[row][column] > best) best = fish[row][column], to[0] = row, to[1] = column;
            for (int direction = 0; !placing && mine[row][column] && direction < 6; direction++) {
                int down = row + steps[row % 2][direction][0], right = column + steps[row % 2][direction][1];
                if (down < 0 || down >= SIDE || right < 0 || right >= SIDE || fish[down][right] <= best) continue;
                best = fish[down][right], from[0] = row, from[1] = column, to[0] = down, to[1] = right;
            }
        }
    if (placing)
        printf("{\"type\":\"place\",\"at\":[%d,%d]}", to[0], to[1]);
    else
        printf("{\"type\":\"move\",\"from\":[%d,%d],\"to\":[%d,%d]}", from[0], from[1], to[0], to[1]);
}

/* Answer each message with its own nonce: an action to take_turn, null to all others; nothing after a goodbye. */
int main(void) {
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0 && !strstr(line, "\"type\":\"goodbye\"")) {
        char *nonce = after(line, "\"nonce\":\"");
        printf("{\"nonce\":\"%.*s\",\"answer\":", (int)strcspn(nonce, "\""), nonce);
        if (strstr(line, "\"type\":\"take_turn\""))
            choose(line);
        else
            printf("null");
        printf("}\n");
        fflush(stdout); /* or it is never read */
    }
    free(line);
    return 0;
}
