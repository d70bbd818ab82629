// Play Fish in Java, without any library.
//
//     javac -d FishBot FishBot.java
//     fairplay check-bot fish exec:"java -Xmx256m -XX:+UseSerialGC -cp FishBot FishBot"
//     fairplay play fish me=exec:"java -Xmx256m -XX:+UseSerialGC -cp FishBot FishBot" greedy
//
// The options say that it has little memory and few threads, or Java goes by the size of the machine.
//
// Change `choose`, right below: it is asked for an action on each of your turns. The rest can stay as it is. Print what
// you like to System.err, and `--bot-logs DIR` keeps it; System.out is for replies alone. `fairplay rules fish` prints
// the rules.

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

class FishBot {
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

    // What is said between the referee and a bot: a line of JSON comes in, and a line of JSON goes out with its nonce.

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Json message = Json.read(line);
            String type = message.get("type").text();
            if (message.get("nonce").isNull() || type.equals("closing")) continue; // no reply is expected
            String answer = type.equals("take_turn") ? choose(message.get("view")) : "null";
            System.out.println("{\"nonce\":\"" + message.get("nonce").text() + "\",\"answer\":" + answer + "}");
            System.out.flush(); // or it is never read
        }
    }

    /** A value that was read: null, a Boolean, a Double, a String, a List of such values, or a Map of them. */
    record Json(Object value) {
        /** A field of an object; null if it has no such field. */
        Json get(String name) {
            return value instanceof Map<?, ?> fields && fields.get(name) instanceof Json found ? found : new Json(null);
        }

        /** An entry of a list. */
        Json get(int index) {
            return list().get(index);
        }

        List<Json> list() {
            List<Json> entries = new ArrayList<>();
            if (value instanceof List<?> list) list.forEach(entry -> entries.add((Json) entry));
            return entries;
        }

        int number() {
            return ((Double) value).intValue();
        }

        String text() {
            return (String) value;
        }

        boolean isNull() {
            return value == null;
        }

        static Json read(String text) {
            return new JsonReader(text).value();
        }
    }

    /** Reads JSON from left to right. */
    static class JsonReader {
        final String text;
        int at = 0;

        JsonReader(String text) {
            this.text = text;
        }

        /** The next sign that is no space, which stays where it is. */
        char next() {
            while (Character.isWhitespace(text.charAt(at))) at++;
            return text.charAt(at);
        }

        /** Is this the next sign? Then it is passed over. */
        boolean passes(char sign) {
            boolean found = next() == sign;
            if (found) at++;
            return found;
        }

        Json value() {
            switch (next()) {
                case '{': return new Json(object());
                case '[': return new Json(list());
                case '"': return new Json(string());
            }
            int start = at;
            while (at < text.length() && ",:]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(start, at);
            switch (word) {
                case "null": return new Json(null);
                case "true": return new Json(true);
                case "false": return new Json(false);
            }
            return new Json(Double.valueOf(word));
        }

        Map<String, Json> object() {
            Map<String, Json> fields = new HashMap<>();
            at++;
            if (passes('}')) return fields;
            do {
                next();
                String name = string();
                passes(':');
                fields.put(name, value());
            } while (passes(','));
            at++;
            return fields;
        }

        List<Json> list() {
            List<Json> entries = new ArrayList<>();
            at++;
            if (passes(']')) return entries;
            do entries.add(value()); while (passes(','));
            at++;
            return entries;
        }

        String string() {
            StringBuilder found = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                char sign = text.charAt(at);
                if (sign == '\\') {
                    sign = text.charAt(++at);
                    int special = "bfnrt".indexOf(sign);
                    if (special >= 0) sign = "\b\f\n\r\t".charAt(special);
                    if (sign == 'u') {
                        sign = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                        at += 4;
                    }
                }
                found.append(sign);
            }
            at++;
            return found.toString();
        }
    }
}
