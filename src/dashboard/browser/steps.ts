import { keepCards } from './cards.js'
import { keepDraft, takeAround } from './keep.js'
import { takeUpSent } from './sent.js'

/*
 * The page for writing an automation, with script: its cards change in place and can be dragged, and what is typed is
 * kept as a draft a moment after the last key.
 */
const form = document.querySelector<HTMLFormElement>('form#editor')
if (form !== null) {
  keepCards(form, (page) => takeAround(form, page))
  keepDraft(form)
  takeUpSent(form)
}
