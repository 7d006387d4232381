/** Amounts as people read them on a screen that is looked at in passing. */

/** `3 s`, `12 min`, `5 h`, `3 days`. */
export function shownFor(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400).toLocaleString('en-GB')} days`
}

const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** `12.3 GiB`. */
export function shownBytes(bytes: number): string {
  let value = bytes / 1_024
  let unit = 0
  for (; value >= 1_024 && unit < units.length - 1; unit++) value /= 1_024
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

/** `0.25`, `12.3`, `4,500`: three figures or more. */
export function shownNumber(value: number): string {
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en-GB', {
    maximumFractionDigits: digits,
    minimumFractionDigits: digits,
  })
}
