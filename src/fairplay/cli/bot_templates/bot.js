// Play $game in JavaScript, without any package.
//
//     $commands
//
// Change `choose`, right below: it is asked for an action on each of your turns. The rest can stay as it is. Print what
// you like with console.error, and `--bot-logs DIR` keeps it; console.log is for replies alone. `fairplay rules $name`
// prints the rules.

$part

// What is said between the referee and a bot: a line of JSON comes in, and a line of JSON goes out with its nonce.

function reply(line) {
  const message = JSON.parse(line);
  if (message.nonce === undefined || message.type === "closing") return; // no reply is expected
  const answer = message.type === "take_turn" ? choose(message.view) : null;
  console.log(JSON.stringify({ nonce: message.nonce, answer }));
}

let begun = ""; // of a line that has not come to its end
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (begun + text).split("\n");
  begun = lines.pop();
  lines.forEach(reply);
});
