import { type Html, html } from '../shell/html.js'
import type { PictureChoice } from './picture-choices.js'
import { pickedName } from './picture-words.js'

// Of each card: more would make the page large. The field beside it offers the others by their names.
const mostSmall = 12

/** Small pictures to choose from: which is pressed takes the place of the card's address, with script at once. */
export function pictureChooser(
  place: string,
  url: string,
  {
    pictures,
    picturesPage,
    store,
  }: { pictures: readonly PictureChoice[]; picturesPage: string; store: string | undefined },
): Html {
  if (pictures.length === 0) {
    const here =
      store === undefined ? 'Add some' : 'Choose a file here and press “Upload”, or add several'
    return html`<p class="hint">You have no pictures yet. ${here} on the page <a href="${picturesPage}">Pictures</a>: from then on they are offered here.</p>`
  }
  return html`<details${url === '' && html` open`}><summary>Your pictures</summary><div class="picks" role="radiogroup" aria-label="Your pictures">${pictures
    .slice(0, mostSmall)
    .map(
      (one) =>
        html`<label><input type="radio" name="${pickedName(place)}" value="${one.url}"${one.url === url && html` checked`}><img class="thumb" src="${one.file}" alt="" loading="lazy" width="72" height="54"> ${one.name}</label>`,
    )}</div></details>`
}
