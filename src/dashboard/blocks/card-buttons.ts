import { type Html, html } from '../shell/html.js'

/** A button that changes the blocks: `change` is where it leads, and the page comes back to the block, or to what stands there. */
export const blockButton = (
  deed: string,
  place: string,
  label: string,
  name: string,
  change: string,
): Html =>
  html`<button name="do" value="${deed}:${place}" formaction="${change}#block-${place}" formnovalidate aria-label="${label}: ${name}">${label}</button>`
