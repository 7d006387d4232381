import { breakLine, type Lines, type Place } from './lines.js'

// A link's target fills a line, so the cells after it would be torn apart.
const mostBeforeCells = 50
const isFilled = ({ isBehindLink, line }: Place) => isBehindLink && line.length > mostBeforeCells

/** The state of a row or a table so far. */
interface Row {
  isTable: boolean
  /** One of its cells has content; where that content begins, and where the last cell begins. */
  isBegun: boolean
  firstEnds: number
  firstWraps: number
  lastEnds: number
  lastWraps: number
}

/** Rows and cells of tables, which most mails use for their layout. */
export function makeCells(lines: Lines) {
  const rowOf = (isTable: boolean): Row => ({
    isTable,
    isBegun: false,
    firstEnds: 0,
    firstWraps: 0,
    lastEnds: 0,
    lastWraps: 0,
  })
  let row = rowOf(true)

  return {
    restart() {
      row = rowOf(true)
    },

    /** Begins a row or a table; the returned function ends it. */
    row(isTable: boolean): () => void {
      const outer = row
      row = rowOf(isTable)
      return () => {
        const { firstEnds, firstWraps, isBegun } = row
        row = outer
        if (!isBegun) return
        if (outer.isTable && !isTable && !outer.isBegun) {
          outer.isBegun = true
          outer.firstEnds = firstEnds
          outer.firstWraps = firstWraps
        }
        // No empty line follows a row of one line, such as a row of an order.
        const { ends, wraps } = lines.at
        breakLine(lines, ends > firstEnds || wraps > firstWraps ? 2 : 1)
      }
    },

    /**
     * Begins a cell: two spaces after the previous cell if that has one line, else on a line of its own. The
     * returned function ends it.
     */
    cell(): () => void {
      const at = lines.at
      const { pieces, breaks, isNextCell, isEmptyCell, cellEnds, cellWraps } = at
      at.isSpaced = false
      at.isEmptyCell = true
      if (row.isBegun && !row.isTable && !isNextCell) {
        if (at.ends > row.lastEnds) at.breaks = Math.max(breaks, 2)
        else if (at.wraps > row.lastWraps || isFilled(at)) at.breaks = Math.max(breaks, 1)
        else {
          at.breaks = 0
          at.isNextCell = true
        }
      }
      return () => {
        const now = lines.at
        if (now.pieces === pieces) {
          now.isNextCell = isNextCell
          now.isEmptyCell = isEmptyCell
          if (!isNextCell) now.breaks = Math.max(breaks, now.breaks)
          return
        }
        if (!row.isBegun) {
          row.isBegun = true
          row.firstEnds = now.cellEnds
          row.firstWraps = now.cellWraps
        }
        row.lastEnds = now.cellEnds
        row.lastWraps = now.cellWraps
        // If this begins the outer cell, that cell begins on the same line.
        if (!isEmptyCell) {
          now.cellEnds = cellEnds
          now.cellWraps = cellWraps
        }
      }
    },
  }
}
