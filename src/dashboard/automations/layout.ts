import {
  isOutlineStep,
  type Outline,
  type OutlineItem,
  type OutlineStep,
  outlineOf,
} from '../../automations/index.js'
import { keepNewest } from '../../bounded/index.js'
import type { FlowGraph, FlowWay } from './graph.js'

/** Where everything of a drawing stands, in pixels. */
export interface FlowLayout {
  width: number
  height: number
  /** The upper left corner of each step, in the graph's order. */
  steps: readonly Point[]
  /** The line of each way, and where its words stand, in the graph's order. */
  ways: readonly { points: readonly Point[]; x: number; y: number }[]
}

interface Point {
  x: number
  y: number
}

export const stepWidth = 220
export const stepHeight = 58
const margin = 8
// Between a step and the next one, and between two ways side by side.
const gap = 30
const beside = 28
// The space below a step with several ways: their lines, their words, and how many took each.
const fork = 68
const half = gap / 2
// The room for a way's words along its line.
const perLetter = 7
// Ways to steps elsewhere run along the right side, each in its own lane.
const lane = 10

// How many layouts are kept, of some kilobytes each.
const mostKept = 200
const kept = new Map<string, FlowLayout>()

/** The layout of a graph; `name` identifies what the graph was made from, so that each layout is computed once. */
export function layoutOf(graph: FlowGraph, name: string): FlowLayout {
  const known = kept.get(name)
  const found = known ?? arranged(graph)
  keepNewest(kept, name, found, mostKept)
  return found
}

/**
 * Lists of the outline stand side by side, and so do the ways of a step, each in a column of its own. So no line that
 * goes on below crosses a step. The time is that of one walk over the steps.
 */
function arranged({ steps, ways }: FlowGraph): FlowLayout {
  const places = new Map(steps.map(({ key }, at) => [key, at]))
  const connections = ways.flatMap(({ from, to, name }) => {
    const [source, target] = [steps[from], steps[to]]
    return source === undefined || target === undefined
      ? []
      : [{ from: source.key, to: target.key, ...edgeOf(name) }]
  })
  const outline = outlineOf({ steps: [...steps], connections })
  const corners: Point[] = steps.map(() => ({ x: 0, y: 0 }))
  /** By a step and the name of its way: the middle of that way's column, and where it ends. */
  const columns = new Map<string, { x: number; bottom: number }>()
  const place: Place = (item, corner) => {
    const at = places.get(item.step.key)
    if (at !== undefined) corners[at] = corner
  }
  const end = placeLists(outline, { place, columns })
  let lanes = 0
  const lines = ways.map((way): FlowLayout['ways'][number] => {
    const [from, to] = [corners[way.from], corners[way.to]]
    if (from === undefined || to === undefined) return { points: [], x: 0, y: 0 }
    const column = columns.get(columnName(steps[way.from]?.key ?? '', way.name))
    const isBelow = isNext(way, { from, to, column, corners })
    const points = isBelow
      ? lineBelow(from, to, column)
      : lineAround(from, to, { column, x: end.width + lane * ++lanes })
    return { points, ...wordsAt(from, column, points) }
  })
  return withinFrame(corners, lines, ways)
}

const edgeOf = (name: string) =>
  name.startsWith('branch:')
    ? { type: 'branch' as const, branch: name.slice('branch:'.length) }
    : { type: name as 'default' }

const columnName = (key: string, way: string) => JSON.stringify([key, way])

type Place = (item: OutlineStep, corner: Point) => void
type Columns = Map<string, { x: number; bottom: number }>

/** Lists that no way joins stand side by side. */
function placeLists(outline: Outline, to: { place: Place; columns: Columns }): { width: number } {
  let left = 0
  for (const items of outline) {
    const width = widthOf(items)
    placeList(items, { left, top: 0, width }, to)
    left += width + beside
  }
  return { width: Math.max(0, left - beside) }
}

/** The width of a list: that of its widest step with all of its ways. */
function widthOf(items: readonly OutlineItem[]): number {
  const widths = items.map((item) => (isOutlineStep(item) ? waysWidth(item) : 0))
  return Math.max(stepWidth, ...widths)
}

const waysWidth = ({ ways }: OutlineStep): number =>
  ways.reduce((sum, { items }) => sum + columnWidth(items) + beside, -beside)

/** A way without steps is a line with its words. */
const columnWidth = (items: readonly OutlineItem[]): number =>
  items.some(isOutlineStep) ? widthOf(items) : emptyWidth
const emptyWidth = 120

interface Frame {
  left: number
  top: number
  width: number
}

/** Places a list and answers where it ends. */
function placeList(
  items: readonly OutlineItem[],
  { left, top, width }: Frame,
  to: { place: Place; columns: Columns },
): number {
  const middle = left + width / 2
  let y = top
  for (const item of items) {
    if (!isOutlineStep(item)) continue
    to.place(item, { x: middle - stepWidth / 2, y })
    y += stepHeight
    y = item.ways.length === 0 ? y + gap : placeWays(item, { middle, top: y + fork }, to) + gap
  }
  return y
}

function placeWays(
  item: OutlineStep,
  { middle, top }: { middle: number; top: number },
  to: { place: Place; columns: Columns },
): number {
  let left = middle - waysWidth(item) / 2
  const own: { x: number; bottom: number }[] = []
  let bottom = top
  for (const { type, branch, items } of item.ways) {
    const width = columnWidth(items)
    const end = placeList(items, { left, top, width }, to)
    bottom = Math.max(bottom, end - (end === top ? 0 : gap))
    const column = { x: left + width / 2, bottom: top }
    own.push(column)
    const name = branch === undefined ? type : `branch:${branch}`
    to.columns.set(columnName(item.step.key, name), column)
    left += width + beside
  }
  for (const column of own) column.bottom = bottom
  return bottom
}

const middleOf = ({ x }: Point) => x + stepWidth / 2
const bottomOf = ({ y }: Point) => y + stepHeight

/** Whether the next step of a way is directly below, so that a line can go straight down to it. */
function isNext(
  { from: source, to: target }: FlowWay,
  {
    from,
    to,
    column,
    corners,
  }: {
    from: Point
    to: Point
    column: { x: number; bottom: number } | undefined
    corners: readonly Point[]
  },
): boolean {
  if (to.y < bottomOf(from) + gap) return false
  const x = column?.x ?? middleOf(from)
  const [top, bottom] = [bottomOf(from), to.y]
  return !corners.some(
    (one, at) =>
      at !== source &&
      at !== target &&
      one.y < bottom &&
      bottomOf(one) > top &&
      Math.abs(middleOf(one) - x) < stepWidth / 2 + half,
  )
}

/** A line down the column of the way, and over to the step at its end. */
function lineBelow(from: Point, to: Point, column: { x: number } | undefined): Point[] {
  const [start, end] = [
    { x: middleOf(from), y: bottomOf(from) },
    { x: middleOf(to), y: to.y },
  ]
  const x = column?.x ?? start.x
  return straight([
    start,
    { x: start.x, y: start.y + half },
    { x, y: start.y + half },
    { x, y: end.y - half },
    { x: end.x, y: end.y - half },
    end,
  ])
}

/** A line to a step elsewhere: out to the right side, along it, and in from above. */
function lineAround(
  from: Point,
  to: Point,
  { column, x }: { column: { x: number } | undefined; x: number },
): Point[] {
  const [start, end] = [
    { x: middleOf(from), y: bottomOf(from) },
    { x: middleOf(to), y: to.y },
  ]
  const down = column === undefined ? half : fork - 6
  const out = column?.x ?? start.x
  return straight([
    start,
    { x: start.x, y: start.y + (column === undefined ? down : half) },
    { x: out, y: start.y + (column === undefined ? down : half) },
    { x: out, y: start.y + down },
    { x, y: start.y + down },
    { x, y: end.y - half },
    { x: end.x, y: end.y - half },
    end,
  ])
}

/** Each point once, without points on the line between their neighbours. */
const straight = (given: readonly Point[]): Point[] =>
  given
    .filter(({ x, y }, at) => x !== given[at - 1]?.x || y !== given[at - 1]?.y)
    .filter(({ x, y }, at, points) => {
      const [before, after] = [points[at - 1], points[at + 1]]
      if (before === undefined || after === undefined) return true
      return !((before.x === x && x === after.x) || (before.y === y && y === after.y))
    })

/** Places the words of a way on its line, below the step where it begins. */
function wordsAt(from: Point, column: { x: number } | undefined, points: readonly Point[]): Point {
  if (column !== undefined) return { x: column.x, y: bottomOf(from) + half + 16 }
  const middle = points[Math.floor(points.length / 2)]
  return { x: middle?.x ?? middleOf(from), y: middle?.y ?? bottomOf(from) + half }
}

/** Moves everything into the drawing, in whole pixels. */
function withinFrame(
  steps: readonly Point[],
  lines: FlowLayout['ways'],
  ways: readonly FlowWay[],
): FlowLayout {
  const points = [
    ...steps,
    ...steps.map(({ x, y }) => ({ x: x + stepWidth, y: y + stepHeight })),
    ...lines.flatMap((line, at) => {
      const room = ((ways[at]?.words?.length ?? 0) * perLetter) / 2
      return [...line.points, { x: line.x - room, y: line.y }, { x: line.x + room, y: line.y }]
    }),
  ]
  const left = Math.min(...points.map(({ x }) => x)) - margin
  const top = Math.min(...points.map(({ y }) => y)) - margin
  const moved = ({ x, y }: Point): Point => ({ x: Math.round(x - left), y: Math.round(y - top) })
  return {
    width: Math.round(Math.max(...points.map(({ x }) => x)) - left + margin),
    height: Math.round(Math.max(...points.map(({ y }) => y)) - top + margin),
    steps: steps.map(moved),
    ways: lines.map((line) => ({ points: line.points.map(moved), ...moved(line) })),
  }
}
