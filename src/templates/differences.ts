/** A line that both texts have, or one of them; a gap stands for lines that both have. */
export type Difference =
  | { kind: 'same' | 'added' | 'removed'; line: string }
  | { kind: 'gap'; lines: number }

// The time of Myers' algorithm grows with the square of this. Texts with more edits are shown as completely
// different.
const mostEdits = 400
const around = 3

/**
 * The changes from `before` to `after`, line by line, with three lines around each change. Minified HTML is one line,
 * whose change would show nothing, so long lines are cut after tags.
 */
export function differences(before: string, after: string): Difference[] {
  if (before === after) return []
  const [a, b] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const same = (line: string): Difference => ({ kind: 'same', line })
  return withGaps([
    ...a.slice(0, start).map(same),
    ...edits(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ])
}

const linesOf = (text: string) =>
  text === ''
    ? []
    : text.split('\n').flatMap((line) => (line.length > 400 ? line.split(/(?<=>)(?=<)/) : [line]))

/** E. Myers, An O(ND) Difference Algorithm (1986): the fewest lines removed and added. */
function edits(a: readonly string[], b: readonly string[]): Difference[] {
  const trail: Map<number, number>[] = []
  const furthest = new Map([[1, 0]])
  const most = Math.min(a.length + b.length, mostEdits)
  for (let edit = 0; edit <= most; edit++) {
    trail.push(new Map(furthest))
    for (let k = -edit; k <= edit; k += 2) {
      const down = k === -edit || (k !== edit && at(furthest, k - 1) < at(furthest, k + 1))
      let x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      furthest.set(k, x)
      if (x >= a.length && x - k >= b.length) return walkBack(trail, a, b)
    }
  }
  return [
    ...a.map((line): Difference => ({ kind: 'removed', line })),
    ...b.map((line): Difference => ({ kind: 'added', line })),
  ]
}

const at = (furthest: ReadonlyMap<number, number>, k: number) => furthest.get(k) ?? -1

function walkBack(
  trail: readonly ReadonlyMap<number, number>[],
  a: readonly string[],
  b: readonly string[],
): Difference[] {
  const found: Difference[] = []
  let [x, y] = [a.length, b.length]
  for (let edit = trail.length - 1; edit >= 0; edit--) {
    const furthest = trail[edit] ?? new Map()
    const k = x - y
    const down = k === -edit || (k !== edit && at(furthest, k - 1) < at(furthest, k + 1))
    const fromK = down ? k + 1 : k - 1
    const fromX = at(furthest, fromK)
    const fromY = fromX - fromK
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      x--
      y--
      found.push({ kind: 'same', line: a[x] ?? '' })
    }
    if (edit === 0) break
    if (down) found.push({ kind: 'added', line: b[--y] ?? '' })
    else found.push({ kind: 'removed', line: a[--x] ?? '' })
  }
  return found.reverse()
}

/** Leaves out unchanged lines, except for those near a change. */
function withGaps(all: readonly Difference[]): Difference[] {
  const near = new Array<boolean>(all.length).fill(false)
  for (const [index, { kind }] of all.entries()) {
    if (kind !== 'same') near.fill(true, Math.max(0, index - around), index + around + 1)
  }
  const shown: Difference[] = []
  for (const [index, one] of all.entries()) {
    const last = shown.at(-1)
    if (near[index]) shown.push(one)
    else if (last?.kind === 'gap') last.lines++
    else shown.push({ kind: 'gap', lines: 1 })
  }
  return shown
}
