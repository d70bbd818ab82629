// Play Fish in Java, without any library: find the few fields that matter in each line by patterns.
//
//     fairplay play fish exec:"java -Xmx256m -XX:+UseSerialGC Fish.java" greedy
//
// The options say that it has little memory and few threads, or Java goes by the size of the machine.
// That is safe: the referee writes its JSON without spaces, and a quote inside a string as \", so what looks like
// "nonce": can only be the name of a field. docs/protocol.md describes what is said, the game's RULES.md the game.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

class Fish {
    static final int[][][] STEPS = { // to the six tiles around one: from even rows, and from odd rows
        {{-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {1, -1}, {-1, -1}},
        {{-2, 0}, {-1, 1}, {1, 1}, {2, 0}, {1, 0}, {-1, 0}},
    };

    /** What stands in the brackets of a pattern, wherever it fits. */
    static List<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(fit -> fit.group(1)).toList();
    }

    /** The lists of numbers in a text such as [[1,5,0],[2,2,3]]. */
    static List<int[]> lists(String text) {
        return found("([\\d,]*\\d)\\]", text).stream()
            .map(list -> Stream.of(list.split(",")).mapToInt(Integer::parseInt).toArray()).toList();
    }

    /** A legal action: put a penguin where the most fish are, or move one by a step to where the most are. */
    static String choose(String line) {
        int seat = Integer.parseInt(found("\"seat\":(\\d+)", line).get(0)), best = 0;
        List<int[]> fish = lists(found("\"board\":(\\[.*?\\]\\])", line).get(0));
        List<List<int[]>> penguins = found("\"penguins\":(\\[\\]|\\[.*?\\]\\])", line).stream().map(Fish::lists).toList();
        penguins.forEach(each -> each.forEach(at -> fish.get(at[0])[at[1]] = 0)); // nobody else can go there
        String action = "";
        if (line.contains("\"stage\":\"placing\"")) {
            for (int row = 0; row < fish.size(); row++)
                for (int column = 0; column < fish.get(row).length; column++)
                    if (fish.get(row)[column] > best) {
                        best = fish.get(row)[column];
                        action = "{\"type\":\"place\",\"at\":[%d,%d]}".formatted(row, column);
                    }
            return action;
        }
        for (int[] from : penguins.get(seat))
            for (int[] step : STEPS[from[0] % 2]) {
                int row = from[0] + step[0], column = from[1] + step[1];
                if (row < 0 || row >= fish.size() || column < 0 || column >= fish.get(row).length) continue;
                if (fish.get(row)[column] <= best) continue;
                best = fish.get(row)[column];
                action = "{\"type\":\"move\",\"from\":[%d,%d],\"to\":[%d,%d]}".formatted(from[0], from[1], row, column);
            }
        return action;
    }

    /** Answer each message with its own nonce: an action to take_turn, null to all others; nothing after a goodbye. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = lines.readLine()) != null && !line.contains("\"type\":\"goodbye\"")) {
            String answer = line.contains("\"type\":\"take_turn\"") ? choose(line) : "null";
            String nonce = found("\"nonce\":\"([^\"]*)\"", line).get(0);
            System.out.println("{\"nonce\":\"" + nonce + "\",\"answer\":" + answer + "}");
            System.out.flush(); // or it is never read
        }
    }
}
