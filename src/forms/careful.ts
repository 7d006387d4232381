import { dayMs, isRecent } from '../clock/index.js'
import type { SignupForm } from './form.js'

// Confirmations that came back so long ago make a form careful no more.
const carefulMs = 7 * dayMs

/** Whether a form's confirmations came back of late: it then sends a few an hour. */
export const isCarefulForm = ({ carefulAt }: SignupForm, now: number): boolean =>
  carefulAt !== null && isRecent(carefulAt, now, carefulMs)
