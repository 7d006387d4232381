import { type Html, html } from '../shell/html.js'

/** By how many places a block moves, or what is made of it stands behind it. */
const steps: Readonly<Record<string, number>> = { up: -1, down: 1, copy: 1, add: 1 }

/** The fragment of the block that was moved or made, where it stands afterwards; of a removed one that of what offers it back. */
export function landing(deed: string, place: string): string {
  if (deed === 'gone') return '#gone'
  const at = place.split('.')
  const last = at.pop() ?? ''
  // Nothing stands before what is added at the beginning of a column, or of all.
  const next = last === '' ? 0 : Number(last) + (steps[deed] ?? 0)
  return `#block-${[...at, next].join('.')}`
}

/** A button that changes the blocks: `change` is where it leads, and the page comes back to the block it was about. */
export const blockButton = (
  deed: string,
  place: string,
  label: string,
  name: string,
  change: string,
): Html =>
  html`<button name="do" value="${deed}:${place}" formaction="${change}${landing(deed, place)}" formnovalidate aria-label="${label}: ${name}">${label}</button>`
