import { type Html, html } from '../shell/html.js'
import { isolated } from '../shell/names.js'
import type { StepChoices } from './step-choices.js'

// Each is a frame that is rendered when somebody scrolls to it; more would make the page too large.
const mostPictures = 24

/**
 * The templates as pictures, each with a button that chooses it. It works without script, and a frame is loaded only
 * once it is in sight. It is open where none is chosen yet.
 */
export function mailGallery(
  { templates }: Pick<StepChoices, 'templates'>,
  { base, change, isOpen }: { base: string; change: string; isOpen: boolean },
): Html {
  if (templates.length === 0) {
    return html`<p class="hint">There is no template yet. <a href="${base}/templates/-/new">Write one</a></p>`
  }
  const shown = templates.slice(0, mostPictures)
  const more = templates.length - shown.length
  return html`<details${isOpen && html` open`}><summary>Choose by picture</summary>${
    more > 0 &&
    html`<p class="quiet">The first ${mostPictures} by name; ${more} more are in the list above.</p>`
  }<ul class="layouts">${shown.map(
    ({ value, subject }) =>
      html`<li><div class="picture" inert><iframe title="How “${value}” looks" src="${base}/automations/picture/${value}" sandbox="" loading="lazy"></iframe></div><button name="do" value="take:${value}" formaction="${change}#open" formnovalidate>Take ${isolated(value)}</button> <span>${isolated(subject)}</span></li>`,
  )}</ul></details>`
}
