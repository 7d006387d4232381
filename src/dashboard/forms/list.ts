import { handForm, listForms, stateOf } from '../../forms/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { FormPlaceDeps } from './deps.js'

/** The forms of an account, and how each does. */
interface FormsView {
  base: string
  accountId: string
  mayWrite: boolean
  archived: boolean
  forms: {
    name: string
    page: string
    chip: { text: string; tone: Tone }
    figures: readonly [shown: number, sentIn: number, confirmed: number, heldBack: number]
  }[]
}

/** How a form stands, in words. */
export const formChips: Readonly<Record<ReturnType<typeof stateOf>, { text: string; tone: Tone }>> =
  {
    open: { text: 'Open', tone: 'good' },
    careful: { text: 'Careful: confirmations come back', tone: 'doubt' },
    stopped: { text: 'Stopped: too many confirmations came back', tone: 'bad' },
    archived: { text: 'Archived', tone: 'none' },
  }

/** All of them: nobody has more than fit. */
export async function formsPage(
  { store: { read } }: FormPlaceDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, now, query } = visit
  const archived = query.get('show') === 'archived'
  const byHand = archived ? undefined : await handForm(read, account.id)
  const forms = [...(byHand ? [byHand] : []), ...(await listForms(read, account.id))]
  const view: FormsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    archived,
    forms: forms
      .filter((form) => (form.archivedAt !== null) === archived)
      .map((form) => ({
        name: form.name,
        page: `${base}/forms/${form.id}`,
        chip: formChips[stateOf(form, now)],
        figures: [form.shown, form.sentIn, form.confirmed, form.heldBack],
      })),
  }
  return page('forms/list', view, { title: 'Forms' })
}
