/*
 * How long a slow proof takes. `bin/check` has a short form of each, `bin/check --thorough` (what continuous
 * integration runs) the whole. A file that has no short form begins with a line `// Thorough: why`: bin/check then
 * leaves it out, unless it is named itself.
 */
export const isThorough = process.env.THOROUGH === '1'

/** `short` for every check, `whole` for --thorough: rounds, kills, seeds, pages. */
export const thoroughly = <T>(short: T, whole: T): T => (isThorough ? whole : short)
