import { consentHistory } from '../../consent/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { maybe, structOf, table, words } from '../../fields/index.js'
import { parseMailbox } from '../../mime/index.js'
import { idsIn, type Read } from '../../store/index.js'
import * as operations from '../../suppression/contract.js'
import {
  lift,
  type Suppression,
  suppressionReasons,
  suppressionsOf,
} from '../../suppression/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { SuppressionPageDeps } from './deps.js'
import { addressPage, happeningText, type SuppressionView, suppressionView } from './view.js'

/** All that is known about why an address gets mail or does not. */
interface AddressView {
  base: string
  accountId: string
  mayWrite: boolean
  mayErase: boolean
  email: string
  /** What all records together mean. */
  verdict: { text: string; tone: 'good' | 'bad' | 'doubt'; sentence: string }
  records: (SuppressionView & {
    /** The mail that led to the record, if it still exists. */
    mail: { url: string; subject: string } | undefined
    /** What the record means, and what to consider before it is lifted. */
    sentence: string
  })[]
  history: { at: Moment; text: string; mail: string | undefined }[]
  faults: Faults
}

const LiftForm = structOf(table({ email: words(), reason: maybe(operations.reason) }))
// A person's record grows by a few rows a year; the last ones tell most.
const mostHistory = 100

/** Why an address is suppressed, or that it is not, with the mail and the reply that caused it. */
export function addressPages(pages: AccountPages, deps: SuppressionPageDeps): void {
  const { store, clock } = deps
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const given = visit.query.get('email') ?? visit.fields.get('email') ?? ''
    // People paste `Ann <ann@example.com>` too.
    const email = parseMailbox(given)?.address.toLowerCase()
    if (email === undefined) {
      const flash = `“${given.slice(0, 80)}” is not an email address`
      return redirect(`${visit.base}/suppression`, { flash })
    }
    const view = await addressView(store.read, visit, email, faults)
    return page('suppression/address', view, { title: email })
  }
  pages.get('/suppression/address', 'suppression.read', (visit) => show(visit, noFaults))

  const options = { action: 'suppression.write', form: LiftForm, again: show } as const
  pages.post('/suppression/lift', options, async ({ account, base, form }) => {
    const { email, reason } = form
    const reasons = reason === undefined ? suppressionReasons : [reason]
    const lifting = { by: 'dashboard', at: clock.now(), reasons } as const
    const removed = await store.write((tx) => lift(tx, account.id, email, lifting))
    if (removed === 0) throw new ApiError('not_found', `${email} is not suppressed`)
    const audit = auditOf(operations.removeSuppression, { target: email, detail: { reasons } })
    return redirect(addressPage(base, email), { flash: `${email} is taken off the list`, audit })
  })
}

/** The page's values. Deleted mails have no subject here, and therefore no link. */
async function addressView(
  read: Read,
  visit: Visit,
  email: string,
  faults: Faults,
): Promise<AddressView> {
  const { account, base, now } = visit
  const records = await suppressionsOf(read, account.id, email)
  const history = (await consentHistory(read, account.id, email)).slice(-mostHistory).reverse()
  const subjects = await subjectsOf(
    read,
    account.id,
    records.flatMap(({ emailId }) => emailId ?? []),
  )
  return {
    base,
    accountId: account.id,
    mayWrite: visit.may('suppression.write'),
    mayErase: visit.may('contacts.write'),
    email,
    faults,
    verdict: verdictOf(records),
    records: records.map((record) => {
      const subject = record.emailId === null ? undefined : subjects.get(record.emailId)
      return {
        ...suppressionView(record, base, now),
        mail:
          subject === undefined ? undefined : { url: `${base}/emails/${record.emailId}`, subject },
        sentence: sentences[record.reason],
      }
    }),
    history: history.map((event) => ({
      at: moment(event.at, now),
      text: happeningText(event),
      mail:
        event.detail.emailId === undefined ? undefined : `${base}/emails/${event.detail.emailId}`,
    })),
  }
}

/** The subjects of mails of this account, by id. */
async function subjectsOf(read: Read, accountId: string, ids: string[]) {
  if (ids.length === 0) return new Map<string, string>()
  const rows = await read
    .selectFrom('emails')
    .select(['id', 'subject'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .execute()
  return new Map(rows.map(({ id, subject }) => [id, subject]))
}

/** What all records together mean: one that blocks all mail is enough. */
function verdictOf(records: readonly Suppression[]): AddressView['verdict'] {
  if (records.some(({ scope }) => scope === 'all')) {
    return { text: 'all mail is held back', tone: 'bad', sentence: 'Nothing is sent to it.' }
  }
  if (records.length > 0) {
    const sentence = 'Marketing is not sent to it; receipts and the like are.'
    return { text: 'no marketing', tone: 'doubt', sentence }
  }
  return { text: 'not suppressed', tone: 'good', sentence: 'Mail to it is sent.' }
}

const sentences: Readonly<Record<Suppression['reason'], string>> = {
  bounce:
    'A mail came back for good. Remove it from the list only if you know that the address takes mail again: mail to dead addresses makes receivers trust you less.',
  complaint:
    'The recipient called a mail spam. Remove it from the list only if they ask for your mail again.',
  unsubscribe:
    'The recipient has unsubscribed. Remove it from the list only if they ask for your mail again.',
  manual: 'Somebody has put it on the list, by hand, by the API or by an import.',
}
