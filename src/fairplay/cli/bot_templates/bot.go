// Play $game in Go, with nothing but its standard library.
//
//	$commands
//
// Change choose, right below: it is asked for an action on each of your turns. The rest can stay as it is. Print what
// you like to os.Stderr, and `--bot-logs DIR` keeps it; os.Stdout is for replies alone. `fairplay rules $name` prints
// the rules.
package main

import (
	"encoding/json"
	"os"
)

$part

// What is said between the referee and a bot: one JSON object comes in, and one goes out with its nonce.

type message struct {
	Type, Nonce string
	View        view
}

type reply struct {
	Nonce  string `json:"nonce"`
	Answer any    `json:"answer"`
}

func main() {
	messages, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var heard message
		if messages.Decode(&heard) != nil {
			return // the referee has hung up
		}
		if heard.Nonce == "" || heard.Type == "closing" {
			continue // no reply is expected
		}
		said := reply{Nonce: heard.Nonce}
		if heard.Type == "take_turn" {
			said.Answer = choose(heard.View)
		}
		replies.Encode(said)
	}
}
