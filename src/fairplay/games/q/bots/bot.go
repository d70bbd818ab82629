// Q: what a bot in Go sees and answers on its turn.

type view struct {
	Hand   []string    // your tiles, as "red star"
	Map    []placement // the tiles on it; rows and columns may be negative
	Left   int         // how many tiles are in the pile
	Seat   int         // yours
	Order  []int       // the seats still in, starting with the next to move
	Scores []int       // in that order
}

type placement struct {
	Tile string   `json:"tile"`
	At   position `json:"at"`
}

type position [2]int // row and column

type action struct {
	Type  string      `json:"type"`            // "place", "pass", or "exchange" if that many tiles are left
	Tiles []placement `json:"tiles,omitempty"` // of a place: all in one row, or all in one column
}

// Change this function: it places the tile that touches the most others, or exchanges the hand if none fits.
func choose(view view) (best action) {
	most, lying := -1, tilesOn(view.Map)
	for _, action := range actions(view) {
		touched := 0
		for _, placed := range action.Tiles {
			inRow, inColumn := neighbours(lying, placed.At)
			touched += len(inRow) + len(inColumn)
		}
		if touched > most {
			best, most = action, touched
		}
	}
	return best
}

// Legal actions: each tile of the hand on each place where it fits; to exchange the hand, if possible; to pass.
// More placements are legal: many tiles can be placed at once.
func actions(view view) (found []action) {
	lying, visited := tilesOn(view.Map), map[position]bool{}
	for _, lies := range view.Map {
		for _, at := range around(lies.At) {
			if lying[at] != "" || visited[at] {
				continue // there is a tile, or this place was visited
			}
			visited[at] = true
			inRow, inColumn := neighbours(lying, at)
			for _, tile := range view.Hand {
				if fits(tile, inRow) && fits(tile, inColumn) {
					found = append(found, action{"place", []placement{{tile, at}}})
				}
			}
		}
	}
	if view.Left >= len(view.Hand) {
		found = append(found, action{Type: "exchange"})
	}
	return append(found, action{Type: "pass"})
}

func tilesOn(placements []placement) map[position]string {
	lying := map[position]string{}
	for _, one := range placements {
		lying[one.At] = one.Tile
	}
	return lying
}

// The places beside one: first those in its row.
func around(at position) [4]position {
	row, column := at[0], at[1]
	return [4]position{{row, column - 1}, {row, column + 1}, {row - 1, column}, {row + 1, column}}
}

// The tiles beside a place: those in its row, and those in its column.
func neighbours(lying map[position]string, at position) (inRow, inColumn []string) {
	for number, beside := range around(at) {
		if tile := lying[beside]; tile != "" && number < 2 {
			inRow = append(inRow, tile)
		} else if tile != "" {
			inColumn = append(inColumn, tile)
		}
	}
	return inRow, inColumn
}

// May a tile lie beside these? It has the same colour as all of them, or the same shape as all of them.
func fits(tile string, others []string) bool {
	colour, shape := parts(tile)
	sameColour, sameShape := true, true
	for _, other := range others {
		otherColour, otherShape := parts(other)
		sameColour, sameShape = sameColour && otherColour == colour, sameShape && otherShape == shape
	}
	return sameColour || sameShape
}

// The colour and the shape of a tile.
func parts(tile string) (colour, shape string) {
	for place, sign := range tile {
		if sign == ' ' {
			return tile[:place], tile[place+1:]
		}
	}
	return tile, ""
}
