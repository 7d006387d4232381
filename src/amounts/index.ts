/** Amounts as people read them: in commands, on pages, in what the operator is told. Programs get the numbers. */

/** `1,204`. */
export const shownCount = (count: number): string => count.toLocaleString('en-GB')

/** A count with what is counted: `1 contact`, `1,204 contacts`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${shownCount(count)} ${count === 1 ? one : many}`

const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** `12.3 GiB`, `103 MiB`: rounded down, as it mostly tells what is left. */
export function shownBytes(bytes: number): string {
  if (bytes > 0 && bytes < 1_024) return `${bytes} bytes`
  let value = bytes / 1_024
  let unit = 0
  for (; value >= 1_024 && unit < units.length - 1; unit++) value /= 1_024
  // A tenth of a MiB says nothing; a tenth of a GiB is about a hundred MiB.
  const shown = unit < 2 ? Math.floor(value) : (Math.floor(value * 10) / 10).toFixed(1)
  return `${shown} ${units[unit]}`
}

/** `1,204 MB`, of a million bytes, rounded up: for what is needed. */
export const shownMegabytes = (bytes: number): string =>
  `${shownCount(Math.ceil(bytes / 1_000_000))} MB`

/** `0.25`, `12.3`, `4,500`: three figures or more. */
export function shownNumber(value: number): string {
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en-GB', {
    maximumFractionDigits: digits,
    minimumFractionDigits: digits,
  })
}
