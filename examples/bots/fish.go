// Play Fish in Go, with nothing but its standard library: one JSON object comes in at a time, and one goes out.
//
//	go build fish.go && fairplay play fish ./fish greedy
//
// It goes wherever the most fish are. What is said to it is described in docs/protocol.md, the game in its RULES.md.
package main

import (
	"encoding/json"
	"os"
)

var steps = [2][6][2]int{ // to the six tiles around one: from even rows, and from odd rows
	{{-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {1, -1}, {-1, -1}},
	{{-2, 0}, {-1, 1}, {1, 1}, {2, 0}, {1, 0}, {-1, 0}},
}

type view struct {
	Seat    int
	Stage   string
	Board   [][]int // rows of tiles with 1 to 5 fish; 0: a hole
	Players []struct{ Penguins [][2]int }
}

type object map[string]any

// A legal action: put a penguin where the most fish are, or move one to where the most are.
func choose(view view) (action object) {
	fish, best := view.Board, 0
	for _, player := range view.Players {
		for _, at := range player.Penguins {
			fish[at[0]][at[1]] = 0 // nobody else can go there
		}
	}
	if view.Stage == "placing" {
		for row := range fish {
			for column, here := range fish[row] {
				if here > best {
					best, action = here, object{"type": "place", "at": [2]int{row, column}}
				}
			}
		}
		return action
	}
	for _, from := range view.Players[view.Seat].Penguins {
		for direction := range steps[0] {
			for to := from; ; { // on and on in a straight line, as far as tiles are free
				step := steps[to[0]%2][direction]
				to = [2]int{to[0] + step[0], to[1] + step[1]}
				if to[0] < 0 || to[0] >= len(fish) || to[1] < 0 || to[1] >= len(fish[0]) || fish[to[0]][to[1]] == 0 {
					break
				}
				if here := fish[to[0]][to[1]]; here > best {
					best, action = here, object{"type": "move", "from": from, "to": to}
				}
			}
		}
	}
	return action
}

// Answer each message with its own nonce: an action to take_turn, null to all others; nothing after a goodbye.
func main() {
	messages, replies := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var message struct {
			Type, Nonce string
			View        view
		}
		if messages.Decode(&message) != nil || message.Type == "goodbye" {
			return
		}
		var answer object // null
		if message.Type == "take_turn" {
			answer = choose(message.View)
		}
		replies.Encode(object{"nonce": message.Nonce, "answer": answer})
	}
}
