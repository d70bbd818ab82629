    // Q: what a bot in Java sees and answers on its turn.
    //
    //   answer {"type": "place", "tiles": [{"tile": "red star", "at": [row, column]}, ...]}, all in one row or in one
    //          column, or {"type": "exchange"} if as many tiles are left, or {"type": "pass"}
    //   hand    your tiles, as "red star"
    //   map     the tiles on it: tile, and at as [row, column]; rows and columns may be negative
    //   left    how many tiles are in the pile
    //   order   the seats still in, starting with the next to move; scores are in that order; seat is yours

    /** Change this function: it places the tile that touches the most others, or exchanges the hand if none fits. */
    static String choose(Json view) {
        Map<Position, String> lying = tilesOn(view.get("map"));
        Action best = null;
        int most = -1;
        for (Action action : actions(view)) {
            int touched = 0;
            for (Placement placed : action.tiles())
                for (List<String> line : neighbours(lying, placed.at())) touched += line.size();
            if (touched > most) {
                most = touched;
                best = action;
            }
        }
        return best.json();
    }

    record Position(int row, int column) {
        /** The places beside it: in its row, and in its column. */
        List<List<Position>> around() {
            return List.of(
                List.of(new Position(row, column - 1), new Position(row, column + 1)),
                List.of(new Position(row - 1, column), new Position(row + 1, column)));
        }
    }

    record Placement(String tile, Position at) {
        String json() {
            return "{\"tile\":\"%s\",\"at\":[%d,%d]}".formatted(tile, at.row(), at.column());
        }
    }

    /** To place tiles, or with none to exchange or to pass. */
    record Action(String type, List<Placement> tiles) {
        String json() {
            if (tiles.isEmpty()) return "{\"type\":\"" + type + "\"}";
            List<String> written = tiles.stream().map(Placement::json).toList();
            return "{\"type\":\"" + type + "\",\"tiles\":[" + String.join(",", written) + "]}";
        }
    }

    /**
     * Legal actions: each tile of the hand on each place where it fits; to exchange the hand, if possible; to pass.
     * More placements are legal: many tiles can be placed at once.
     */
    static List<Action> actions(Json view) {
        Map<Position, String> lying = tilesOn(view.get("map"));
        Set<Position> places = new LinkedHashSet<>(); // free places beside a tile
        for (Position at : lying.keySet()) at.around().forEach(places::addAll);
        places.removeAll(lying.keySet());
        List<Action> found = new ArrayList<>();
        List<Json> hand = view.get("hand").list();
        for (Position at : places) {
            List<List<String>> lines = neighbours(lying, at);
            for (Json held : hand) {
                String tile = held.text();
                if (fits(tile, lines.get(0)) && fits(tile, lines.get(1)))
                    found.add(new Action("place", List.of(new Placement(tile, at))));
            }
        }
        if (view.get("left").number() >= hand.size()) found.add(new Action("exchange", List.of()));
        found.add(new Action("pass", List.of()));
        return found;
    }

    static Map<Position, String> tilesOn(Json map) {
        Map<Position, String> lying = new LinkedHashMap<>();
        for (Json one : map.list()) {
            Json at = one.get("at");
            lying.put(new Position(at.get(0).number(), at.get(1).number()), one.get("tile").text());
        }
        return lying;
    }

    /** The tiles beside a place: those in its row, and those in its column. */
    static List<List<String>> neighbours(Map<Position, String> lying, Position at) {
        return at.around().stream()
            .map(line -> line.stream().filter(lying::containsKey).map(lying::get).toList()).toList();
    }

    /** May a tile lie beside these? It has the same colour as all of them, or the same shape as all of them. */
    static boolean fits(String tile, List<String> others) {
        String[] parts = tile.split(" ");
        return others.stream().allMatch(other -> other.split(" ")[0].equals(parts[0]))
            || others.stream().allMatch(other -> other.split(" ")[1].equals(parts[1]));
    }
