import { keepCards } from './cards.js'
import { keepDraft, takeAround } from './keep.js'
import { takeUpSent } from './sent.js'

/*
 * The page on which an automation is written, with script: its cards change in place, can be drawn to their places, and what
 * is typed is kept as a draft a moment after the last key.
 */
const form = document.querySelector<HTMLFormElement>('form#editor')
if (form !== null) {
  keepCards(form, (page) => takeAround(form, page))
  keepDraft(form)
  takeUpSent(form)
}
