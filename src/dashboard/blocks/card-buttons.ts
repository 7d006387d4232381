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

/** By which a card is drawn to its place with a pointer and script; everything else has the buttons beside it. */
export const dragHandle = html`<i class="handle" data-handle hidden aria-hidden="true">⠿</i>`
