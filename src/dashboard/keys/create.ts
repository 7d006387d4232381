import { string, type } from 'superstruct'
import * as operations from '../../accounts/contract.js'
import { createKey, limitsIn } from '../../accounts/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { simulatorDomain } from '../../simulator/index.js'
import { ownUrl } from '../own-url.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { KeyPageDeps } from './deps.js'
import { givenIn, keyFields, scopeWords } from './form.js'
import type { FormTokens } from './once.js'
import { domainBoxes } from './view.js'

const CreateForm = type({ ...keyFields, once: string() })

/** The form for a new key. */
interface CreateView {
  base: string
  accountId: string
  once: string
  scopes: { value: string; label: string; hint: string }[]
  /** Undefined: there are too many to tick. */
  domains: string[] | undefined
  faults: Faults
}

/** The only answer that has the whole key. */
interface MadeView {
  base: string
  name: string
  key: string
  /** A command that tries the key. */
  example: string
  /** What the key sends goes to the test inbox. */
  isTest: boolean
}

const labels: Readonly<Record<string, string>> = {
  full: 'Full',
  sending: 'Sending',
  read: 'Reading',
  test: 'Testing',
}

/** The scopes to choose from, with what each lets a key do. */
export const scopes = Object.entries(scopeWords).map(([value, hint]) => ({
  value,
  hint,
  label: labels[value] ?? value,
}))

/** A request that a key of this scope may make; `domain` is one that it may send from. */
function exampleOf(
  at: string,
  { key, scope }: { key: string; scope: string },
  domain = 'YOUR-DOMAIN',
): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`
  if (scope !== 'sending' && scope !== 'test') return `curl ${at}/v1/domains ${authorization}`
  const to = scope === 'test' ? 'ann@example.org' : `delivered@${simulatorDomain}`
  const mail = { from: `hello@${domain}`, to, subject: 'Hello', html: 'Hello' }
  return `curl ${at}/v1/emails/send ${authorization} -H 'Content-Type: application/json' -d '${JSON.stringify(mail)}'`
}

/** The form that makes a key, and the one answer that shows the key. */
export function createPages(pages: AccountPages, deps: KeyPageDeps & { once: FormTokens }): void {
  const { store, plans, once } = deps

  const show = async ({ account, base }: Visit, faults: Faults): Promise<PageAnswer> => {
    const view: CreateView = {
      base,
      faults,
      scopes,
      accountId: account.id,
      once: once.token(),
      domains: await domainBoxes(store.read, account.id),
    }
    return page('keys/create', view, { title: 'Create a key' })
  }
  pages.get('/keys/new', 'keys.write', (visit) => show(visit, noFaults))

  const options = { action: 'keys.write', form: CreateForm, sudo: true, again: show } as const
  pages.post('/keys/new', options, async ({ account, base, form, request }) => {
    const given = checked(operations.createKey, givenIn(form))
    const limits = limitsIn(given)
    const made = await once.run(form.once, () =>
      createKey(deps, account.id, given.name, { plans, limits }),
    )
    const [verified] = await verifiedDomains(store.read, account.id)
    // The example must work as it stands: a key limited to domains sends from one of them.
    const domain = limits.domains?.[0] ?? verified
    const view: MadeView = {
      base,
      name: made.name,
      key: made.key,
      example: exampleOf(ownUrl(request), made, domain),
      isTest: made.scope === 'test',
    }
    const { id: target, name, scope } = made
    const audit = auditOf(operations.createKey, { target, detail: { name, scope } })
    return page('keys/made', view, { title: 'Your new key', audit })
  })
}
