/*
 * How long a slow proof takes. `bin/check` has a short form of each, `bin/check --thorough` (what continuous
 * integration runs) the whole. A file that has no short form begins with a line `// Thorough: why`: bin/check then
 * leaves it out, unless the file itself is named. The longest take turns in continuous integration, `// Thorough,
 * turn 1: why`.
 */
export const isThorough = process.env.THOROUGH === '1'

/** `short` for every check, `whole` for --thorough: rounds, kills, seeds, pages. */
export const thoroughly = <T>(short: T, whole: T): T => (isThorough ? whole : short)

const turns = 5

/** The proofs of a long list whose turn it is; all of them outside continuous integration. */
export const inTurn = <T>(proofs: readonly T[]): readonly T[] =>
  process.env.TURN === undefined
    ? proofs
    : proofs.filter((_, i) => i % turns === Number(process.env.TURN) - 1)
