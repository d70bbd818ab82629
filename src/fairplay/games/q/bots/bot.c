/* Q: what a bot in C sees and answers on its turn.
 *
 *   print   {"type":"place","tiles":[{"tile":"red star","at":[row,column]},...]}, all in one row or in one column,
 *           or {"type":"exchange"} if as many tiles are left, or {"type":"pass"}
 *   hand    your tiles, as "red star"
 *   map     the tiles on it: tile, and at as [row,column]; rows and columns may be negative
 *   left    how many tiles are in the pile
 *   order   the seats still in, starting with the next to move; scores are in that order; seat is yours
 */
enum { TILES = 6 * 6 * 30, HAND = 6, MOST = 4 * TILES * HAND }; /* tiles on the map, in a hand; placements */

typedef struct {
    char name[20]; /* as "red star" */
    int row, column;
} Tile;

static Tile map[TILES], hand[HAND], placements[MOST]; /* the tiles on the map; your tiles; how they can be placed */
static int lying, held;                               /* the number of tiles on the map and in the hand */
static int find_placements(const char *view);
static int neighbours(int row, int column, const Tile *found[4]);

/* Change this function: it places the tile that touches the most others, or exchanges the hand if none fits. */
static void choose(const char *view) {
    int count = find_placements(view), best = -1, most = 0;
    for (int i = 0; i < count; i++) {
        const Tile *found[4];
        int touched = neighbours(placements[i].row, placements[i].column, found);
        if (touched > most) most = touched, best = i;
    }
    if (best >= 0) {
        Tile tile = placements[best];
        printf("{\"type\":\"place\",\"tiles\":[{\"tile\":\"%s\",\"at\":[%d,%d]}]}", tile.name, tile.row, tile.column);
    } else if (number(field(view, "left")) >= held)
        printf("{\"type\":\"exchange\"}");
    else
        printf("{\"type\":\"pass\"}");
}

static Tile read_tile(const char *name) {
    Tile tile = {"", 0, 0};
    for (int i = 0; i < 19 && name[i + 1] != '"'; i++) tile.name[i] = name[i + 1];
    return tile;
}

/* The tile on a place; NULL: there is none. */
static const Tile *tile_at(int row, int column) {
    for (int i = 0; i < lying; i++)
        if (map[i].row == row && map[i].column == column) return &map[i];
    return NULL;
}

/* Find the tiles beside a place (two in its row, two in its column, NULL: none) and return their number. */
static int neighbours(int row, int column, const Tile *found[4]) {
    int count = 0;
    found[0] = tile_at(row, column - 1), found[1] = tile_at(row, column + 1);
    found[2] = tile_at(row - 1, column), found[3] = tile_at(row + 1, column);
    for (int i = 0; i < 4; i++) count += found[i] != NULL;
    return count;
}

/* May a tile lie between these two? It has the same colour as both, or the same shape; NULL: no neighbour. */
static bool fits(const Tile *tile, const Tile *one, const Tile *other) {
    const Tile *beside[2] = {one, other};
    bool same_colour = true, same_shape = true;
    size_t colour = strcspn(tile->name, " ") + 1; /* its length, with the space behind it */
    for (int i = 0; i < 2; i++) {
        if (!beside[i]) continue;
        same_colour = same_colour && !strncmp(tile->name, beside[i]->name, colour);
        same_shape = same_shape && !strcmp(strchr(tile->name, ' '), strchr(beside[i]->name, ' '));
    }
    return same_colour || same_shape;
}

/* Read the map and the hand, find each tile of the hand on each place where it fits, and return their number.
 * More placements are legal: many tiles can be placed at once. */
static int find_placements(const char *view) {
    static const int around[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    int count = 0;
    lying = held = 0;
    for (const char *one = first(field(view, "map")); one && lying < TILES; one = next(one)) {
        map[lying] = read_tile(field(one, "tile"));
        map[lying].row = number(entry(field(one, "at"), 0));
        map[lying++].column = number(entry(field(one, "at"), 1));
    }
    for (const char *tile = first(field(view, "hand")); tile && held < HAND; tile = next(tile))
        hand[held++] = read_tile(tile);
    for (int i = 0; i < 4 * lying; i++) { /* each place beside a tile, some of them more than once */
        int row = map[i / 4].row + around[i % 4][0], column = map[i / 4].column + around[i % 4][1];
        const Tile *beside[4];
        if (tile_at(row, column)) continue;
        neighbours(row, column, beside);
        for (int j = 0; j < held; j++)
            if (fits(&hand[j], beside[0], beside[1]) && fits(&hand[j], beside[2], beside[3])) {
                placements[count] = hand[j];
                placements[count].row = row;
                placements[count++].column = column;
            }
    }
    return count;
}
