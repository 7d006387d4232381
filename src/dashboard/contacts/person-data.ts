import { string, type } from 'superstruct'
import { noteAudit } from '../../audit/index.js'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../erasure/contract.js'
import {
  downloadOf,
  erasedSays,
  fileNameOf,
  type Staying,
  staysInPages,
  whatIsStored,
  wholeAddress,
} from '../../erasure/index.js'
import { ApiError } from '../../errors/index.js'
import { addressKey, parseMailbox } from '../../mime/index.js'
import { file, type PageAnswer, page, redirect } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'

/** What may be done with somebody's data, whoever they are. */
interface PersonDataView {
  base: string
  here: string
  /** Empty: it is asked for. */
  email: string
  /** What was typed and is no address. */
  typed: string
  zip: string
  /** Said in the place of a file where nothing is stored. */
  nothing: string | undefined
  stays: readonly Staying[]
  faults: Faults
  same: SameBy
}

const EraseForm = type({ email: string(), typed: string() })

/** `/contacts/data`: what is known of an address, a contact's or not, in a file; or gone. */
export function personDataPages(pages: AccountPages, deps: ContactPageDeps): void {
  const { read } = deps.store
  const show = async (visit: Visit, faults: Faults) => showPersonData(deps, visit, faults)
  pages.get('/contacts/data', 'contacts.write', (visit) => show(visit, noFaults))
  pages.get('/contacts/data/everything.zip', 'contacts.write', async ({ account, query, now }) => {
    const address = wholeAddress(query.get('email') ?? '')
    const audit = auditOf(operations.downloadPerson, { target: address })
    const pieces = downloadOf(read, account.id, address, now)
    return file(pieces, 'application/zip', { saveAs: fileNameOf(address, now), audit })
  })
  const erasing = { action: 'contacts.write', form: EraseForm, again: show } as const
  pages.post('/contacts/data/erase', erasing, (visit) =>
    erase(deps, visit, visit.form.email, visit.form.typed),
  )
}

/** Begins with an erasure, if the address was typed once more; its row of the audit log is written with it. */
export async function erase(
  { erasures, clock }: ContactPageDeps,
  { account, base, person, actor }: Pick<Visit, 'account' | 'base' | 'person' | 'actor'>,
  email: string,
  typed: string,
): Promise<PageAnswer> {
  if (addressKey(typed.trim()) !== addressKey(email)) {
    const message = 'Type the address as it stands above'
    throw new ApiError('validation_error', message, { status: 422, fields: { field: 'typed' } })
  }
  const { id } = await erasures.begin(account.id, email, person.id, (tx, { detail }) =>
    noteAudit(tx, {
      ...auditOf(operations.erasePerson, { target: detail.name }),
      actor,
      accountId: account.id,
      at: clock.now(),
    }),
  )
  return redirect(`${base}/tasks/${id}`, { audit: 'noted' })
}

async function showPersonData(
  { store: { read } }: ContactPageDeps,
  { base, account, query, fields }: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const typed = fields.get('email') ?? query.get('email') ?? ''
  const email = parseMailbox(typed.trim())?.address.toLowerCase() ?? ''
  const stored = email === '' ? 'nothing' : await whatIsStored(read, account.id, email)
  const view: PersonDataView = {
    base,
    here: `${base}/contacts/data`,
    email,
    typed: typed.slice(0, 320),
    zip: `${base}/contacts/data/everything.zip?${new URLSearchParams({ email })}`,
    nothing: {
      something: undefined,
      hash: erasedSays,
      nothing: 'Nothing is stored about this address.',
    }[stored],
    stays: staysInPages,
    faults,
    same: {
      api: [
        call(api.erasure.downloadPerson, { of: { email: email || 'ann@example.org' } }),
        call(api.erasure.erasePerson, { body: { address: email || 'ann@example.org' } }),
      ],
      cli: [
        command('contact download', {
          of: [email || 'ann@example.org'],
          account: account.id,
          into: 'person.zip',
        }),
        command('contact erase', { of: [email || 'ann@example.org'], account: account.id }),
      ],
    },
  }
  return page('contacts/person-data', view, { title: 'Somebody’s data' })
}
