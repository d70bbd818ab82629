    // Tsuro: what a bot in Java sees and answers on its turn.
    //
    //   stage    "placing": answer {"type": "place", "tile": ..., "degrees": ..., "port": "A" to "H", "at": [x, y]}
    //            "playing": answer {"type": "lay", "tile": ..., "degrees": ...}
    //   dealt    the tiles to choose from, by number
    //   seat     yours
    //   size     squares a side; a square is [x, y], from the top left
    //   tiles    on the board: tile, degrees, and at as [x, y]
    //   players  by seat: colour, avatar as [x, y, port] or null, and more

    /** Change this function: it keeps its avatar as near to the middle of the board as it can. */
    static String choose(Json view) {
        Action best = null;
        int least = Integer.MAX_VALUE, last = view.get("size").number() - 1;
        for (Action action : actions(view)) {
            Spot after = spotAfter(view, action);
            int far = Integer.MAX_VALUE;
            if (after != OFF && after != LOOP)
                far = Math.abs(2 * after.ahead().at().x() - last) + Math.abs(2 * after.ahead().at().y() - last);
            if (best == null || far < least) {
                least = far;
                best = action;
            }
        }
        return best.json();
    }

    record Square(int x, int y) {
        boolean isOnBoard(Json view) {
            int size = view.get("size").number();
            return x >= 0 && y >= 0 && x < size && y < size;
        }

        static Square of(Json pair) {
            return new Square(pair.get(0).number(), pair.get(1).number());
        }
    }

    /** A port of a square, where an avatar may be; A to H are 0 to 7. */
    record Spot(Square at, int port) {
        /** The spot that it touches, on the square that it faces. */
        Spot ahead() {
            int[] by = AHEAD[port];
            return new Spot(new Square(at.x() + by[0], at.y() + by[1]), by[2]);
        }
    }

    /** A tile as it lies. */
    record Tile(int number, int degrees) {
        /** The port to which it leads from a port. */
        int exit(int port) {
            int turned = degrees / 45; // turned by 90 degrees, A becomes C
            String pairs = TILES[number];
            int place = pairs.indexOf(PORTS.charAt((port - turned + 8) % 8));
            return (PORTS.indexOf(pairs.charAt(place ^ 1)) + turned) % 8;
        }
    }

    /** A tile is laid; the first one is placed, with the avatar on a spot, which is null later. */
    record Action(Tile tile, Spot spot) {
        String json() {
            String turned = "\"tile\":" + tile.number() + ",\"degrees\":" + tile.degrees();
            if (spot == null) return "{\"type\":\"lay\"," + turned + "}";
            return "{\"type\":\"place\",%s,\"port\":\"%s\",\"at\":[%d,%d]}"
                .formatted(turned, PORTS.charAt(spot.port()), spot.at().x(), spot.at().y());
        }
    }

    /** All legal actions. */
    static List<Action> actions(Json view) {
        return view.get("stage").text().equals("placing") ? places(view) : lays(view);
    }

    /** The first tile is placed at the edge, away from others; its avatar faces a square of the board. */
    static List<Action> places(Json view) {
        List<Action> found = new ArrayList<>();
        Set<Square> taken = boardOf(view).keySet();
        int last = view.get("size").number() - 1;
        for (int x = 0; x <= last; x++)
            for (int y = 0; y <= last; y++) {
                Square at = new Square(x, y);
                List<Square> near = List.of(
                    at, new Square(x, y - 1), new Square(x + 1, y), new Square(x, y + 1), new Square(x - 1, y));
                boolean isEdge = x == 0 || y == 0 || x == last || y == last;
                if (!isEdge || near.stream().anyMatch(taken::contains)) continue;
                for (int port = 0; port < 8; port++) {
                    Spot spot = new Spot(at, port);
                    if (spot.ahead().at().isOnBoard(view))
                        for (Tile tile : options(view)) found.add(new Action(tile, spot));
                }
            }
        return found;
    }

    /** A tile may neither send an avatar into an endless loop nor drive its player off, unless every choice does. */
    static List<Action> lays(Json view) {
        List<Action> all = new ArrayList<>(), fine = new ArrayList<>();
        for (Tile tile : options(view)) {
            List<Spot> after = spotsAfter(view, tile);
            Action action = new Action(tile, null);
            all.add(action);
            if (after.get(view.get("seat").number()) != OFF && !after.contains(LOOP)) fine.add(action);
        }
        return fine.isEmpty() ? all : fine;
    }

    /** The dealt tiles in all rotations. */
    static List<Tile> options(Json view) {
        List<Tile> found = new ArrayList<>();
        for (Json number : view.get("dealt").list())
            for (int degrees = 0; degrees < 360; degrees += 90) found.add(new Tile(number.number(), degrees));
        return found;
    }

    /** The tiles by their squares. */
    static Map<Square, Tile> boardOf(Json view) {
        Map<Square, Tile> board = new HashMap<>();
        for (Json lies : view.get("tiles").list())
            board.put(Square.of(lies.get("at")), new Tile(lies.get("tile").number(), lies.get("degrees").number()));
        return board;
    }

    /** Where an avatar comes to rest at the end of its path: a spot, or OFF or LOOP. */
    static Spot follow(Json view, Map<Square, Tile> board, Spot start) {
        Spot spot = start;
        do {
            Spot ahead = spot.ahead();
            if (!ahead.at().isOnBoard(view)) return OFF;
            Tile tile = board.get(ahead.at());
            if (tile == null) return spot;
            spot = new Spot(ahead.at(), tile.exit(ahead.port()));
        } while (!spot.equals(start));
        return LOOP;
    }

    /** Where all avatars are after a tile was laid, by seat: spots, or OFF or LOOP. */
    static List<Spot> spotsAfter(Json view, Tile tile) {
        List<Spot> before = new ArrayList<>(), after = new ArrayList<>();
        for (Json player : view.get("players").list()) {
            Json avatar = player.get("avatar");
            before.add(avatar.isNull() ? OFF : new Spot(Square.of(avatar), PORTS.indexOf(avatar.get(2).text())));
        }
        Map<Square, Tile> board = boardOf(view);
        board.put(before.get(view.get("seat").number()).ahead().at(), tile);
        for (Spot spot : before) after.add(spot == OFF ? OFF : follow(view, board, spot));
        return after;
    }

    /** Where your own avatar is after an action. */
    static Spot spotAfter(Json view, Action action) {
        return action.spot() != null ? action.spot() : spotsAfter(view, action.tile()).get(view.get("seat").number());
    }

    static final Spot OFF = new Spot(null, -1); // instead of a spot: off the board
    static final Spot LOOP = new Spot(null, -2); // instead of a spot: in an endless loop
    static final String PORTS = "ABCDEFGH"; // clockwise, from the left one of the north side
    static final String[] TILES = { // how each connects its ports, in four pairs
        "AEBFCHDG", "AEBFCGDH", "AFBECHDG", "AEBDCGFH", "AHBCDEFG", "AEBCDHFG", "AEBCDGFH",
        "ADBGCFEH", "ADBFCGEH", "ADBECHFG", "ADBECGFH", "ADBCEHFG", "ACBHDFEG", "ACBHDEFG",
        "ACBGDFEH", "ACBGDEFH", "ACBFDHEG", "ACBFDGEH", "ACBEDHFG", "ACBEDGFH", "ACBDEHFG",
        "ACBDEGFH", "ABCHDGEF", "ABCHDFEG", "ABCHDEFG", "ABCGDHEF", "ABCGDFEH", "ABCGDEFH",
        "ABCFDHEG", "ABCFDGEH", "ABCEDHFG", "ABCEDGFH", "ABCDEHFG", "ABCDEGFH", "ABCDEFGH",
    };
    static final int[][] AHEAD = { // what lies before a port: so much further in x and y, and the port that touches it
        {0, -1, 5}, {0, -1, 4}, {1, 0, 7}, {1, 0, 6}, {0, 1, 1}, {0, 1, 0}, {-1, 0, 3}, {-1, 0, 2},
    };
