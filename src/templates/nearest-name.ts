/** The name that somebody most likely meant; undefined where no name is near. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const plain = plainName(typed)
  if (plain === '' || plain.length > mostCompared) return undefined
  const most = plain.length <= 5 ? 1 : 2
  let nearest: { name: string; steps: number } | undefined
  for (const name of names) {
    if (name.length > mostCompared) continue
    const steps = stepsBetween(plain, plainName(name))
    if (steps <= most && steps < (nearest?.steps ?? Infinity)) nearest = { name, steps }
  }
  return nearest?.name
}

// Names of fields are shorter, and the table below grows with the square of this.
const mostCompared = 80

/** Only letters and digits: `First name`, `first_name` and `firstName` are one. */
const plainName = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** How many letters have to be changed, added, removed or swapped with the next one (Damerau, Levenshtein). */
function stepsBetween(a: string, b: string): number {
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const differs = a[i - 1] === b[j - 1] ? 0 : 1
      const least = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + differs)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(isSwapped ? Math.min(least, (older[j - 2] ?? 0) + 1) : least)
    }
    ;[older, old] = [old, row]
  }
  return old[b.length] ?? 0
}
