import { string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../domains/contract.js'
import { addDomain, listDomains, verifyDomain } from '../../domains/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'

interface AddView {
  base: string
  accountId: string
  /** How many domains the plan allows; undefined: any number. */
  most: number | undefined
  /** The plan has no room for another one. */
  isFull: boolean
  plan: string
  faults: Faults
}

const AddForm = type({ name: string() })

/**
 * `/domains/new`: asks for a name and adds it with its keys. The domain is verified later, when its
 * records are published.
 */
export function addPages(pages: AccountPages, deps: DomainPageDeps): void {
  const { store, plans } = deps
  const show = async ({ account, base }: Visit, faults: Faults): Promise<PageAnswer> => {
    const { plan } = await readBilling(store.read, plans, account.id)
    const most = plan.domains ?? undefined
    // One more than the plan allows is enough to know.
    const held =
      most === undefined ? [] : await listDomains(store.read, account.id, { limit: most })
    const view: AddView = {
      base,
      accountId: account.id,
      most,
      faults,
      plan: plan.name,
      isFull: most !== undefined && held.length >= most,
    }
    return page('domains/add', view, { title: 'Add a domain' })
  }
  pages.get('/domains/new', 'domains.write', (visit) => show(visit, noFaults))

  const options = { action: 'domains.write', form: AddForm, again: show } as const
  pages.post('/domains/new', options, async ({ account, base, form }) => {
    const { name } = await addDomain(deps, account.id, domainIn(form.name), { plans })
    // Some people publish the records first, or come back to an earlier domain: records that exist are found now.
    const asked = { ...deps, settings: deps.records, resolver: deps.openResolver() }
    const { domain } = await verifyDomain(asked, account.id, name)
    const flash =
      domain.status === 'verified'
        ? `${name} is added, and its records are there`
        : `${name} is added. Publish its records: they are looked for every two minutes`
    const audit = auditOf(operations.addDomain, { target: name })
    return redirect(`${base}/domains/${name}`, { flash, audit })
  })
}

/** The domain in what people paste: a website's address, or a mail address. */
function domainIn(text: string): string {
  const [host = ''] = text
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .split(/[/?#]/)
  return (host.split('@').at(-1) ?? '').replace(/:\d+$/, '').replace(/^www\.(?=.+\.)/i, '')
}
