/* Tsuro: what a bot in C sees and answers on its turn.
 *
 *   stage    "placing": print {"type":"place","tile":...,"degrees":...,"port":"A" to "H","at":[x,y]}
 *            "playing": print {"type":"lay","tile":...,"degrees":...}
 *   dealt    the tiles to choose from, by number
 *   seat     yours
 *   size     squares a side; a square is [x,y], from the top left
 *   tiles    on the board: tile, degrees, and at as [x,y]
 *   players  by seat: colour, avatar as [x,y,port] or null, and more
 */
enum { SIDE = 30, SEATS = 5, MOST = 4 * SIDE * 8 * 3 * 4 }; /* squares a side, players and actions at most */
enum { ON_BOARD, OFF, LOOP };                               /* the fate of an avatar; LOOP: an endless loop */

typedef struct {
    int x, y, port; /* ports from A to H are 0 to 7 */
    int fate;
} Spot;

typedef struct {
    int number, degrees;
    bool lies; /* false: there is no tile */
} Tile;

typedef struct {
    Tile tile;
    Spot spot; /* of the avatar, when it is placed */
} Action;

static int size, seat, players;
static Tile board[SIDE][SIDE]; /* by x and y */
static Spot avatars[SEATS];
static Action actions[MOST]; /* all that are legal */
static int find_actions(const char *view);
static Spot ahead(Spot spot);
static void lay(Tile tile, Spot after[SEATS]);

/* Change this function: it keeps its avatar as near to the middle of the board as it can. */
static void choose(const char *view) {
    bool placing = is(field(view, "stage"), "placing");
    int count = find_actions(view), best = 0, least = 4 * SIDE;
    for (int i = 0; i < count; i++) {
        Spot after[SEATS];
        if (placing)
            after[seat] = actions[i].spot;
        else
            lay(actions[i].tile, after);
        if (after[seat].fate != ON_BOARD) continue;
        Spot faced = ahead(after[seat]);
        int far = abs(2 * faced.x - size + 1) + abs(2 * faced.y - size + 1);
        if (far < least) least = far, best = i;
    }
    Tile tile = actions[best].tile;
    Spot spot = actions[best].spot;
    printf("{\"type\":\"%s\",\"tile\":%d,\"degrees\":%d", placing ? "place" : "lay", tile.number, tile.degrees);
    if (placing) printf(",\"port\":\"%c\",\"at\":[%d,%d]", 'A' + spot.port, spot.x, spot.y);
    printf("}");
}

static bool is_on_board(int x, int y) {
    return x >= 0 && y >= 0 && x < size && y < size;
}

/* Is there a tile? There is none beyond the edge. */
static bool is_taken(int x, int y) {
    return is_on_board(x, y) && board[x][y].lies;
}

/* The spot that a spot touches, on the square that it faces. */
static Spot ahead(Spot spot) {
    static const int by[8][3] = { /* before each port: so much further in x and y, and the port that touches it there */
        {0, -1, 5}, {0, -1, 4}, {1, 0, 7}, {1, 0, 6}, {0, 1, 1}, {0, 1, 0}, {-1, 0, 3}, {-1, 0, 2},
    };
    const int *step = by[spot.port];
    return (Spot){spot.x + step[0], spot.y + step[1], step[2], ON_BOARD};
}

/* The port to which a tile leads from a port. */
static int leads_to(Tile tile, int port) {
    static const char *const tiles[35] = { /* how each connects its ports, in four pairs */
        "AEBFCHDG", "AEBFCGDH", "AFBECHDG", "AEBDCGFH", "AHBCDEFG", "AEBCDHFG", "AEBCDGFH",
        "ADBGCFEH", "ADBFCGEH", "ADBECHFG", "ADBECGFH", "ADBCEHFG", "ACBHDFEG", "ACBHDEFG",
        "ACBGDFEH", "ACBGDEFH", "ACBFDHEG", "ACBFDGEH", "ACBEDHFG", "ACBEDGFH", "ACBDEHFG",
        "ACBDEGFH", "ABCHDGEF", "ABCHDFEG", "ABCHDEFG", "ABCGDHEF", "ABCGDFEH", "ABCGDEFH",
        "ABCFDHEG", "ABCFDGEH", "ABCEDHFG", "ABCEDGFH", "ABCDEHFG", "ABCDEGFH", "ABCDEFGH",
    };
    const char *pairs = tiles[tile.number];
    int turned = tile.degrees / 45; /* turned by 90 degrees, A becomes C */
    long place = strchr(pairs, 'A' + (port - turned + 8) % 8) - pairs;
    return (pairs[place ^ 1] - 'A' + turned) % 8;
}

/* Where an avatar comes to rest at the end of its path. */
static Spot follow(Spot start) {
    Spot spot = start;
    do {
        Spot there = ahead(spot);
        if (!is_on_board(there.x, there.y)) return (Spot){.fate = OFF};
        if (!is_taken(there.x, there.y)) return spot;
        spot = there;
        spot.port = leads_to(board[there.x][there.y], there.port);
    } while (spot.x != start.x || spot.y != start.y || spot.port != start.port);
    return (Spot){.fate = LOOP};
}

/* Where all avatars are after a tile was laid, by seat. */
static void lay(Tile tile, Spot after[SEATS]) {
    Spot before = ahead(avatars[seat]);
    board[before.x][before.y] = tile;
    for (int i = 0; i < players; i++) after[i] = avatars[i].fate == ON_BOARD ? follow(avatars[i]) : avatars[i];
    board[before.x][before.y].lies = false; /* it was only a trial */
}

/* Read the board and the avatars. */
static void read_view(const char *view) {
    size = number(field(view, "size"));
    seat = number(field(view, "seat"));
    players = 0;
    memset(board, 0, sizeof board);
    for (const char *tile = first(field(view, "tiles")); tile; tile = next(tile)) {
        const char *at = field(tile, "at");
        Tile lies = {number(field(tile, "tile")), number(field(tile, "degrees")), true};
        board[number(entry(at, 0))][number(entry(at, 1))] = lies;
    }
    for (const char *player = first(field(view, "players")); player && players < SEATS; player = next(player)) {
        const char *spot = field(player, "avatar"), *x = first(spot);
        avatars[players++] = x ? (Spot){number(x), number(entry(spot, 1)), entry(spot, 2)[1] - 'A', ON_BOARD}
                               : (Spot){.fate = OFF};
    }
}

/* The first tile is placed at the edge, away from others; its avatar faces a square of the board. */
static int find_places(const Tile *options, int turned) {
    int count = 0;
    for (int x = 0; x < size; x++)
        for (int y = 0; y < size; y++) {
            bool is_edge = x == 0 || y == 0 || x == size - 1 || y == size - 1;
            bool near = is_taken(x, y - 1) || is_taken(x + 1, y) || is_taken(x, y + 1) || is_taken(x - 1, y);
            for (int port = 0; port < 8 && is_edge && !near && !is_taken(x, y); port++) {
                Spot spot = {x, y, port, ON_BOARD}, faced = ahead(spot);
                for (int i = 0; i < turned && is_on_board(faced.x, faced.y); i++)
                    actions[count++] = (Action){options[i], spot};
            }
        }
    return count;
}

/* A tile may neither send an avatar into a loop nor drive its player off the board, unless every choice does. */
static int find_lays(const Tile *options, int turned) {
    int count = 0;
    for (int i = 0; i < turned; i++) {
        Spot after[SEATS];
        lay(options[i], after);
        bool fine = after[seat].fate == ON_BOARD;
        for (int other = 0; other < players; other++) fine = fine && after[other].fate != LOOP;
        if (fine) actions[count++] = (Action){options[i], avatars[seat]};
    }
    for (int i = 0; i < turned && count == 0; i++) actions[i] = (Action){options[i], avatars[seat]};
    return count ? count : turned;
}

/* Read the view, find all legal actions, and return their number. */
static int find_actions(const char *view) {
    Tile options[3 * 4]; /* the dealt tiles in all rotations */
    int turned = 0;
    read_view(view);
    for (const char *tile = first(field(view, "dealt")); tile && turned < 3 * 4; tile = next(tile))
        for (int degrees = 0; degrees < 360; degrees += 90) options[turned++] = (Tile){number(tile), degrees, true};
    return is(field(view, "stage"), "placing") ? find_places(options, turned) : find_lays(options, turned);
}
