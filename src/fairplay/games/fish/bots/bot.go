// Fish: what a bot in Go sees and answers on its turn.

type view struct {
	Stage   string  // "placing": answer with a place; "playing": answer with a move
	Seat    int     // yours
	Board   [][]int // rows of tiles: 1 to 5 fish, 0 for a hole
	Players []struct {
		Colour   string
		Score    int
		Penguins []position
	} // by seat
}

type position [2]int // row and column

type action struct {
	Type string    `json:"type"` // "place" or "move"
	At   *position `json:"at,omitempty"`
	From *position `json:"from,omitempty"`
	To   *position `json:"to,omitempty"`
}

// Change this function: it chooses the action that ends on the most fish.
func choose(view view) (best action) {
	most := 0
	for _, action := range actions(view) {
		end := action.To
		if view.Stage == "placing" {
			end = action.At
		}
		if fish := view.Board[end[0]][end[1]]; fish > most {
			best, most = action, fish
		}
	}
	return best
}

// All legal actions.
func actions(view view) (found []action) {
	free := map[position]bool{}
	for row, tiles := range view.Board {
		for column, fish := range tiles {
			free[position{row, column}] = fish > 0
		}
	}
	for _, player := range view.Players {
		for _, penguin := range player.Penguins {
			free[penguin] = false
		}
	}
	if view.Stage == "placing" {
		for row, tiles := range view.Board {
			for column := range tiles {
				if at := (position{row, column}); free[at] {
					found = append(found, action{Type: "place", At: &at})
				}
			}
		}
		return found
	}
	for _, penguin := range view.Players[view.Seat].Penguins {
		for direction := 0; direction < 6; direction++ {
			from := penguin
			for at := step(from, direction); free[at]; at = step(at, direction) {
				to := at // in a straight line, as far as tiles are free
				found = append(found, action{Type: "move", From: &from, To: &to})
			}
		}
	}
	return found
}

var steps = [2][6]position{ // to the six tiles around one: from even rows, and from odd rows
	{{-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {1, -1}, {-1, -1}},
	{{-2, 0}, {-1, 1}, {1, 1}, {2, 0}, {1, 0}, {-1, 0}},
}

// The next position in a direction.
func step(from position, direction int) position {
	by := steps[from[0]%2][direction]
	return position{from[0] + by[0], from[1] + by[1]}
}
