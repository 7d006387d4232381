import { isoTime } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { carefulUntil, isCarefulForm } from './careful.js'
import { formTally } from './follow.js'
import { heldOf, listForms, pageForm, type SignupForm } from './form.js'
import { confirmationSenders } from './sender.js'

export type FormState = 'open' | 'careful' | 'stopped' | 'archived'

export const stateOf = (form: SignupForm, now: number): FormState => {
  if (form.archivedAt !== null) return 'archived'
  if (form.stoppedAt !== null) return 'stopped'
  return isCarefulForm(form, now) ? 'careful' : 'open'
}

/** The address of a form's hosted page. */
export const addressOf = (publicUrl: string, form: SignupForm): string =>
  `${publicUrl}/f/${form.publicId}`

/** The address where front ends submit the form without a key; empty: they cannot. */
export const submissionsOf = (publicUrl: string, { id, settings }: SignupForm): string =>
  settings.api === 'open' ? `${publicUrl}/v1/forms/${id}/submissions` : ''

interface Shown {
  publicUrl: string
  now: number
}

/** A form as the API and the command show it. */
export const shownForm = async (read: Read, form: SignupForm, shown: Shown) =>
  await formShown(read, form, shown, await confirmationSenders(read, form.accountId))

async function formShown(
  read: Read,
  form: SignupForm,
  { publicUrl, now }: Shown,
  senderOf: (form: SignupForm) => string,
) {
  const { shown, sentIn, confirmed, heldBack } = form
  const until = carefulUntil(form, now)
  return {
    id: form.id,
    name: form.name,
    address: addressOf(publicUrl, form),
    submissions: submissionsOf(publicUrl, form),
    ...form.settings,
    version: form.version,
    sender: senderOf(form),
    state: stateOf(form, now),
    carefulUntil: until === undefined ? null : isoTime(until),
    figures: {
      shown,
      sentIn,
      confirmed,
      heldBack,
      held: await heldOf(read, form.id),
      lately: await formTally(read, form.id, now),
    },
    createdAt: isoTime(form.createdAt),
  }
}

export async function formsAnswer(read: Read, accountId: string, shown: Shown) {
  const forms = await listForms(read, accountId)
  const senderOf = await confirmationSenders(read, accountId)
  return { forms: await Promise.all(forms.map((form) => formShown(read, form, shown, senderOf))) }
}

/** Throws a 404. */
export const formAnswer = async (read: Read, accountId: string, id: string, shown: Shown) =>
  await shownForm(read, await pageForm(read, accountId, id), shown)
