/** The name that was probably meant: the same except for capitals and hyphens, or with a letter or two wrong. */
export function nearestOf(given: string, known: readonly string[]): string | undefined {
  const plain = plainOf(given)
  // At most so many that most letters are right: `tls` is not `mx` with three letters wrong.
  const most = Math.min(2, Math.floor(plain.length / 3))
  const found = known
    .map((name) => ({ name, wrong: lettersWrong(plain, plainOf(name)) }))
    .sort((one, two) => one.wrong - two.wrong)[0]
  return found !== undefined && found.wrong <= most ? found.name : undefined
}

const plainOf = (name: string) => name.slice(0, 100).toLowerCase().replaceAll('-', '_')

/** How many letters are wrong, missing, too many, or have changed places with their neighbour. */
function lettersWrong(one: string, two: string): number {
  let before: number[] = []
  let last = Array.from({ length: two.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= two.length; j++) {
      const same = one[i - 1] === two[j - 1]
      const swapped = i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1]
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = last
    last = row
  }
  return last[two.length] ?? 0
}
