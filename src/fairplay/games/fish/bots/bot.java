    // Fish: what a bot in Java sees and answers on its turn.
    //
    //   stage    "placing": answer {"type": "place", "at": [row, column]}
    //            "playing": answer {"type": "move", "from": [row, column], "to": [row, column]}
    //   seat     yours
    //   board    rows of tiles: 1 to 5 fish, 0 for a hole
    //   players  by seat: colour, score, and penguins as [[row, column], ...]

    /** Change this function: it chooses the action that ends on the most fish. */
    static String choose(Json view) {
        Action best = null;
        int most = 0;
        for (Action action : actions(view)) {
            int fish = view.get("board").get(action.to().row()).get(action.to().column()).number();
            if (fish > most) {
                most = fish;
                best = action;
            }
        }
        return best.json();
    }

    record Position(int row, int column) {
        /** The next position in a direction. */
        Position step(int direction) {
            int[] by = STEPS[row % 2][direction];
            return new Position(row + by[0], column + by[1]);
        }

        static Position of(Json pair) {
            return new Position(pair.get(0).number(), pair.get(1).number());
        }

        String json() {
            return "[" + row + "," + column + "]";
        }
    }

    /** A penguin moves from one position to another; a placement has no `from`: it is null. */
    record Action(Position from, Position to) {
        String json() {
            if (from == null) return "{\"type\":\"place\",\"at\":" + to.json() + "}";
            return "{\"type\":\"move\",\"from\":" + from.json() + ",\"to\":" + to.json() + "}";
        }
    }

    /** All legal actions. */
    static List<Action> actions(Json view) {
        List<Action> found = new ArrayList<>();
        Set<Position> free = new LinkedHashSet<>(); // tiles without a penguin
        for (int row = 0; row < view.get("board").list().size(); row++) {
            List<Json> tiles = view.get("board").get(row).list();
            for (int column = 0; column < tiles.size(); column++)
                if (tiles.get(column).number() > 0) free.add(new Position(row, column));
        }
        for (Json player : view.get("players").list())
            for (Json penguin : player.get("penguins").list()) free.remove(Position.of(penguin));
        if (view.get("stage").text().equals("placing")) {
            for (Position at : free) found.add(new Action(null, at));
            return found;
        }
        for (Json penguin : view.get("players").get(view.get("seat").number()).get("penguins").list()) {
            Position from = Position.of(penguin);
            for (int direction = 0; direction < 6; direction++) // in a straight line, as far as tiles are free
                for (Position to = from.step(direction); free.contains(to); to = to.step(direction))
                    found.add(new Action(from, to));
        }
        return found;
    }

    static final int[][][] STEPS = { // to the six tiles around one: from even rows, and from odd rows
        {{-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {1, -1}, {-1, -1}},
        {{-2, 0}, {-1, 1}, {1, 1}, {2, 0}, {1, 0}, {-1, 0}},
    };
