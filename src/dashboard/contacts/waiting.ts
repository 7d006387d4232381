import { listForms, type SignupForm, waitingEntries, waitsMs } from '../../forms/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'

/** Who was asked by mail and has not pressed the button yet. */
interface WaitingView extends BesidePages {
  base: string
  people: { email: string; by: string; asked: Moment | undefined; until: Moment }[]
}

/** They are no contacts, so that no filter of contacts finds them. */
export async function showWaiting(
  { store: { read } }: ContactPageDeps,
  { account, base, query, now }: Visit,
): Promise<PageAnswer> {
  const { rows, ...beside } = await listOf({ path: `${base}/contacts/waiting`, query }, (cursor) =>
    waitingEntries(read, account.id, { cursor, now }),
  )
  const forms = new Map<string, SignupForm>()
  for (const form of await listForms(read, account.id)) forms.set(form.id, form)
  const view: WaitingView = {
    base,
    people: rows.map(({ email, formId, typed, expiresAt }) => {
      const form = forms.get(formId)
      return {
        email,
        by: form === undefined ? 'you, by hand' : `the form “${form.name}”`,
        // Somebody who had to wait has the whole time from their mail on.
        asked: typed.later ? undefined : moment(expiresAt - waitsMs, now),
        until: moment(expiresAt, now),
      }
    }),
    ...beside,
  }
  return page('contacts/waiting', view, { title: 'Not confirmed yet' })
}
