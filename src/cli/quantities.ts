/** Amounts as people read them on a screen that is looked at in passing. */

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
