import { type FieldChoice, usualFields } from './choices.js'

// A page of ten conditions stays below 64 KiB: the HTML of all selects of fields, and of one with all of them (bytes).
const mostHtml = 30_000
const mostOfOne = 22_000
// The tags of an option, and what escaping may add.
const perOption = 32
const htmlOf = ({ value, label }: FieldChoice) =>
  Buffer.byteLength(value) + Buffer.byteLength(label) + perOption

/**
 * The fields that each condition offers: all of them, where a page has room for that. Else the last condition, which was
 * added to be chosen, has as many as there is room for, and any other its own, the usual ones and those of the rule.
 */
export function choicesOfRows(
  choices: readonly FieldChoice[],
  rows: readonly { field: string }[],
): FieldChoice[][] {
  const whole = choices.reduce((sum, choice) => sum + htmlOf(choice), 0)
  if (whole * rows.length <= mostHtml) return rows.map(() => [...choices])
  const inRule = new Set(rows.map(({ field }) => field))
  const first = choices.filter(({ value }) => inRule.has(value))
  const few = new Set([...usualFields, ...inRule])
  return rows.map(({ field }, at) => {
    const isLast = at === rows.length - 1
    const own = choices.filter(({ value }) => value === field)
    let left = isLast ? mostOfOne : (mostHtml - mostOfOne) / (rows.length - 1)
    const chosen = new Set(own)
    for (const choice of [
      ...choices.filter((one) => usualFields.has(one.value)),
      ...first,
      ...choices,
    ]) {
      if (!isLast && !few.has(choice.value)) continue
      if (chosen.has(choice)) continue
      left -= htmlOf(choice)
      if (left < 0) break
      chosen.add(choice)
    }
    return choices.filter((choice) => chosen.has(choice))
  })
}
