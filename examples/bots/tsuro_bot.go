// Play Tsuro in Go, with nothing but its standard library.
//
//	go build -o tsuro_bot tsuro_bot.go
//	fairplay check-bot tsuro ./tsuro_bot
//	fairplay play tsuro me=./tsuro_bot second third
//
// Change choose, right below: it is asked for an action on each of your turns. The rest can stay as it is. Print what
// you like to os.Stderr, and `--bot-logs DIR` keeps it; os.Stdout is for replies alone. `fairplay rules tsuro` prints
// the rules.
package main

import (
	"encoding/json"
	"os"
)

// Tsuro: what a bot in Go sees and answers on its turn.

type view struct {
	Stage string // "placing": answer with a place; "playing": answer with a lay
	Dealt []int  // the tiles to choose from
	Seat  int    // yours
	Size  int    // squares a side
	Tiles []struct {
		Tile, Degrees int
		At            square
	} // on the board
	Players []struct {
		Colour string
		Avatar *spot // nil: there is none
	} // by seat
}

type square [2]int // x and y, from the top left

type action struct {
	Type    string  `json:"type"` // "place" or "lay"
	Tile    int     `json:"tile"`
	Degrees int     `json:"degrees"`
	Port    string  `json:"port,omitempty"` // of a place: "A" to "H"
	At      *square `json:"at,omitempty"`   // of a place
}

// Change this function: it keeps its avatar as near to the middle of the board as it can.
func choose(view view) (best action) {
	least := -1
	for _, action := range actions(view) {
		far := 4 * view.Size // farther than any square
		if after := spotAfter(view, action); after.fate == onBoard {
			at := ahead(after).at
			far = distance(2*at[0], view.Size-1) + distance(2*at[1], view.Size-1)
		}
		if least < 0 || far < least {
			best, least = action, far
		}
	}
	return best
}

func distance(one, other int) int {
	if one < other {
		return other - one
	}
	return one - other
}

// All legal actions.
func actions(view view) []action {
	if view.Stage == "placing" {
		return places(view)
	}
	return lays(view)
}

// The first tile is placed at the edge, away from others; its avatar faces a square of the board.
func places(view view) (found []action) {
	board, last := boardOf(view), view.Size-1
	for x := 0; x <= last; x++ {
		for y := 0; y <= last; y++ {
			at, isEdge := square{x, y}, x == 0 || y == 0 || x == last || y == last
			near := []square{at, {x, y - 1}, {x + 1, y}, {x, y + 1}, {x - 1, y}}
			if !isEdge || anyTaken(board, near) {
				continue
			}
			for _, tile := range view.Dealt {
				for degrees := 0; degrees < 360; degrees += 90 {
					for port := 0; port < 8; port++ {
						if isOnBoard(view, ahead(spot{at: at, port: port}).at) {
							found = append(found, action{"place", tile, degrees, ports[port : port+1], &at})
						}
					}
				}
			}
		}
	}
	return found
}

func anyTaken(board map[square]tile, squares []square) bool {
	for _, at := range squares {
		if _, taken := board[at]; taken {
			return true
		}
	}
	return false
}

// A tile may neither send an avatar into an endless loop nor drive its player off the board, unless every choice does.
func lays(view view) []action {
	var all, fine []action
	for _, number := range view.Dealt {
		for degrees := 0; degrees < 360; degrees += 90 {
			lay := action{Type: "lay", Tile: number, Degrees: degrees}
			spots, isFine := spotsAfter(view, tile{number, degrees}), true
			for seat, after := range spots {
				if after.fate == loop || seat == view.Seat && after.fate == off {
					isFine = false
				}
			}
			all = append(all, lay)
			if isFine {
				fine = append(fine, lay)
			}
		}
	}
	if len(fine) == 0 {
		return all
	}
	return fine
}

const ports = "ABCDEFGH" // clockwise, from the left one of the north side; in spots they are numbers

var connections = [35]string{ // how each tile connects its ports, in four pairs
	"AEBFCHDG", "AEBFCGDH", "AFBECHDG", "AEBDCGFH", "AHBCDEFG", "AEBCDHFG", "AEBCDGFH",
	"ADBGCFEH", "ADBFCGEH", "ADBECHFG", "ADBECGFH", "ADBCEHFG", "ACBHDFEG", "ACBHDEFG",
	"ACBGDFEH", "ACBGDEFH", "ACBFDHEG", "ACBFDGEH", "ACBEDHFG", "ACBEDGFH", "ACBDEHFG",
	"ACBDEGFH", "ABCHDGEF", "ABCHDFEG", "ABCHDEFG", "ABCGDHEF", "ABCGDFEH", "ABCGDEFH",
	"ABCFDHEG", "ABCFDGEH", "ABCEDHFG", "ABCEDGFH", "ABCDEHFG", "ABCDEGFH", "ABCDEFGH",
}

var beyond = [8]struct{ right, down, touching int }{ // each port: the square there, and the port that touches it
	{0, -1, 5}, {0, -1, 4}, {1, 0, 7}, {1, 0, 6}, {0, 1, 1}, {0, 1, 0}, {-1, 0, 3}, {-1, 0, 2},
}

const ( // the fate of an avatar
	onBoard = iota
	off     // the board
	loop    // an endless one
)

// The port of a square where an avatar is, and its fate.
type spot struct {
	at   square
	port int
	fate int
}

type tile struct{ number, degrees int }

// A spot is written as [x, y, port].
func (spot *spot) UnmarshalJSON(text []byte) error {
	var port string
	err := json.Unmarshal(text, &[]any{&spot.at[0], &spot.at[1], &port})
	if err == nil {
		spot.port = int(port[0] - 'A')
	}
	return err
}

// The tiles by their squares.
func boardOf(view view) map[square]tile {
	board := map[square]tile{}
	for _, lies := range view.Tiles {
		board[lies.At] = tile{lies.Tile, lies.Degrees}
	}
	return board
}

func isOnBoard(view view, at square) bool {
	return at[0] >= 0 && at[1] >= 0 && at[0] < view.Size && at[1] < view.Size
}

// The spot that a spot touches, on the square that it faces.
func ahead(from spot) spot {
	by := beyond[from.port]
	return spot{at: square{from.at[0] + by.right, from.at[1] + by.down}, port: by.touching}
}

// The port to which a tile leads from a port.
func exit(tile tile, port int) int {
	turned := tile.degrees / 45 // turned by 90 degrees, A becomes C
	unturned, pairs := (port-turned+8)%8, connections[tile.number]
	for place := range pairs {
		if int(pairs[place]-'A') == unturned {
			return (int(pairs[place^1]-'A') + turned) % 8
		}
	}
	return port
}

// Where an avatar comes to rest at the end of its path.
func follow(view view, board map[square]tile, start spot) spot {
	for here := start; ; {
		there := ahead(here)
		lies, found := board[there.at]
		if !isOnBoard(view, there.at) {
			return spot{fate: off}
		}
		if !found {
			return here
		}
		here = spot{at: there.at, port: exit(lies, there.port)}
		if here == start {
			return spot{fate: loop}
		}
	}
}

// Where all avatars are after a tile was laid, by seat.
func spotsAfter(view view, lies tile) (spots []spot) {
	board := boardOf(view)
	board[ahead(*view.Players[view.Seat].Avatar).at] = lies
	for _, player := range view.Players {
		after := spot{fate: off}
		if player.Avatar != nil {
			after = follow(view, board, *player.Avatar)
		}
		spots = append(spots, after)
	}
	return spots
}

// Where your own avatar is after an action.
func spotAfter(view view, action action) spot {
	if action.Type == "place" {
		return spot{at: *action.At, port: int(action.Port[0] - 'A')}
	}
	return spotsAfter(view, tile{action.Tile, action.Degrees})[view.Seat]
}

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
