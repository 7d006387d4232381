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
  /** The left upper corner of each step, in the order of the graph's. */
  steps: readonly Point[]
  /** The line of each way, and where its words stand, in the order of the graph's. */
  ways: readonly { points: readonly Point[]; x: number; y: number }[]
}

interface Point {
  x: number
  y: number
}

export const stepWidth = 220
export const stepHeight = 58
const margin = 8
// Between a step and what follows, and between two ways side by side.
const gap = 30
const beside = 28
// Below a step with several ways: lines to each of these, the words of it, and how many have gone it.
const fork = 68
const half = gap / 2
// What the words of a way may take of its line's length.
const perLetter = 7
// Ways that go on elsewhere lead along the right side, each on a lane of its own.
const lane = 10

// Layouts of versions, of some kilobytes each.
const mostKept = 200
const kept = new Map<string, FlowLayout>()

/** The layout of a graph; `name` is of what it was made from, so that the same is reckoned once. */
export function layoutOf(graph: FlowGraph, name: string): FlowLayout {
  const known = kept.get(name)
  const found = known ?? arranged(graph)
  keepNewest(kept, name, found, mostKept)
  return found
}

/**
 * The lists of the outline one below the other, ways of a step side by side, each in a column of its own. So no line that
 * goes on below crosses a step; time is that of one walk over the steps.
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
  /** By a step and the name of its way: the middle of that way's column, and where the column ends. */
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

/** Lists that nothing joins stand side by side. */
function placeLists(outline: Outline, to: { place: Place; columns: Columns }): { width: number } {
  let left = 0
  for (const items of outline) {
    const width = widthOf(items)
    placeList(items, { left, top: 0, width }, to)
    left += width + beside
  }
  return { width: Math.max(0, left - beside) }
}

/** The room that a list takes, its widest step with all of its ways. */
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

/** Answers where the list ends. */
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

/** Whether the next step of a way stands below with nothing between, so that a line can go straight down to it. */
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

/** Down the column of the way, and over to the step at its end. */
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

/** To a step that stands elsewhere: out to the right side, along it, and in from above. */
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

/** Each point once, without those that lie on the line between the two beside them. */
const straight = (given: readonly Point[]): Point[] =>
  given
    .filter(({ x, y }, at) => x !== given[at - 1]?.x || y !== given[at - 1]?.y)
    .filter(({ x, y }, at, points) => {
      const [before, after] = [points[at - 1], points[at + 1]]
      if (before === undefined || after === undefined) return true
      return !((before.x === x && x === after.x) || (before.y === y && y === after.y))
    })

/** The words of a way stand on its line, below the step that it leaves. */
function wordsAt(from: Point, column: { x: number } | undefined, points: readonly Point[]): Point {
  if (column !== undefined) return { x: column.x, y: bottomOf(from) + half + 16 }
  const middle = points[Math.floor(points.length / 2)]
  return { x: middle?.x ?? middleOf(from), y: middle?.y ?? bottomOf(from) + half }
}

/** Moves all of it so that nothing stands outside of the drawing, in whole pixels. */
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
