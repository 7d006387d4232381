import { dayMs, isRecent } from '../clock/index.js'
import type { SignupForm } from './form.js'

// How long confirmations that came back make a form careful.
const carefulMs = 7 * dayMs

/** Whether a form's confirmations came back lately: it then sends only a few an hour. */
export const isCarefulForm = ({ carefulAt }: Pick<SignupForm, 'carefulAt'>, now: number): boolean =>
  carefulAt !== null && isRecent(carefulAt, now, carefulMs)

/** Until when a form is careful; undefined: it is not. */
export const carefulUntil = (
  form: Pick<SignupForm, 'carefulAt'>,
  now: number,
): number | undefined =>
  isCarefulForm(form, now) ? (form.carefulAt ?? now) + carefulMs : undefined
