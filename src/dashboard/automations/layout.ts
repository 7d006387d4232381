import { Graph, layout } from '@dagrejs/dagre'
import { keepNewest } from '../../bounded/index.js'
import type { FlowGraph } from './graph.js'

/** Where everything of a drawing stands, in pixels. */
export interface FlowLayout {
  width: number
  height: number
  /** The left upper corner of each step, in the order of the graph's. */
  steps: readonly { x: number; y: number }[]
  /** The line of each way, and where its words stand, in the order of the graph's. */
  ways: readonly { points: readonly { x: number; y: number }[]; x: number; y: number }[]
}

export const stepWidth = 220
export const stepHeight = 58
// What a line needs for its words.
const wordsHeight = 18
const perLetter = 7
const margin = 8
// Half of what the words of a line take.
const wordsRoom = 50

// Layouts of versions, of some kilobytes each: one of a hundred steps takes a tenth of a second.
const mostKept = 200
const kept = new Map<string, FlowLayout>()

/** The layout of a graph; `name` is of what it was made from, so that the same is reckoned once. */
export function layoutOf(graph: FlowGraph, name: string): FlowLayout {
  const known = kept.get(name)
  const found = known ?? arranged(graph)
  keepNewest(kept, name, found, mostKept)
  return found
}

interface Box {
  width: number
  height: number
  x?: number
  y?: number
}

function arranged({ steps, ways }: FlowGraph): FlowLayout {
  const drawn = new Graph({ multigraph: true })
  // 'tight-tree' takes half the time of the usual way and draws trees, which these mostly are, the same.
  drawn.setGraph({
    rankdir: 'TB',
    nodesep: 28,
    ranksep: 26,
    marginx: margin,
    marginy: margin,
    ranker: 'tight-tree',
  })
  for (const at of steps.keys()) {
    drawn.setNode(String(at), { width: stepWidth, height: stepHeight })
  }
  for (const [at, { from, to, words }] of ways.entries()) {
    const size = { width: (words?.length ?? 0) * perLetter, height: words ? wordsHeight : 0 }
    drawn.setEdge(String(from), String(to), { labelpos: 'c', ...size }, String(at))
  }
  layout(drawn)
  return withinFrame({
    width: 0,
    height: 0,
    steps: [...steps.keys()].map((at) => {
      const { x = 0, y = 0 } = drawn.node(String(at)) as Box
      return { x: Math.round(x - stepWidth / 2), y: Math.round(y - stepHeight / 2) }
    }),
    ways: ways.map(({ from, to }, at) => {
      const edge = drawn.edge(String(from), String(to), String(at)) as Box & {
        points?: { x: number; y: number }[]
      }
      const points = (edge.points ?? []).map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }))
      const middle = points[Math.floor(points.length / 2)]
      return {
        points,
        x: Math.round(edge.x ?? middle?.x ?? 0),
        y: Math.round(edge.y ?? middle?.y ?? 0),
      }
    }),
  })
}

/** Lines may lead around the outermost steps, which dagre leaves out of its width. */
function withinFrame({ steps, ways }: FlowLayout): FlowLayout {
  const points = [
    ...steps,
    ...steps.map(({ x, y }) => ({ x: x + stepWidth, y: y + stepHeight })),
    ...ways.flatMap((way) => [...way.points, { x: way.x - wordsRoom, y: way.y }]),
    ...ways.map(({ x, y }) => ({ x: x + wordsRoom, y })),
  ]
  const left = Math.min(...points.map(({ x }) => x)) - margin
  const top = Math.min(...points.map(({ y }) => y)) - margin
  const moved = <P extends { x: number; y: number }>(point: P): P =>
    Object.assign({}, point, { x: point.x - left, y: point.y - top })
  return {
    width: Math.max(...points.map(({ x }) => x)) - left + margin,
    height: Math.max(...points.map(({ y }) => y)) - top + margin,
    steps: steps.map(moved),
    ways: ways.map((way) => moved({ ...way, points: way.points.map(moved) })),
  }
}
