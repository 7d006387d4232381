import { string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import { addDomain } from '../../domains/index.js'
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
  faults: Faults
}

const AddForm = type({ name: string() })

/**
 * `/domains/new`: asks for a name and adds it with its keys. It is verified later, when its records
 * are there.
 */
export function addPages(pages: AccountPages, deps: DomainPageDeps): void {
  const { store, plans } = deps
  const show = async ({ account, base }: Visit, faults: Faults): Promise<PageAnswer> => {
    const { plan } = await readBilling(store.read, plans, account.id)
    const view: AddView = { base, accountId: account.id, most: plan.domains ?? undefined, faults }
    return page('domains/add', view, { title: 'Add a domain' })
  }
  pages.get('/domains/new', 'domains.write', (visit) => show(visit, noFaults))

  const options = { action: 'domains.write', form: AddForm, again: show } as const
  pages.post('/domains/new', options, async ({ account, base, form }) => {
    const { name } = await addDomain(deps, account.id, form.name, { plans })
    const flash = `${name} is added. Publish its records now, then check them`
    const audit = { action: 'domain.add', target: name }
    return redirect(`${base}/domains/${name}`, { flash, audit })
  })
}
