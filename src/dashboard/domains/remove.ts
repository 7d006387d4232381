import { string, type } from 'superstruct'
import { listKeys } from '../../accounts/index.js'
import { domainUses } from '../../automations/index.js'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../domains/contract.js'
import { deleteDomain } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'

/** What is removed along with the domain, so that nobody is surprised. */
interface RemoveView {
  url: string
  accountId: string
  id: string
  name: string
  dkimKeys: number
  automations: { name: string }[]
  /** Keys that may send from no other domain. */
  keys: { name: string; last4: string }[]
  faults: Faults
}

const RemoveForm = type({ name: string() })

/** Shows what the removal of a domain removes with it; it is done once the domain's name was typed. */
export function removePages(pages: AccountPages, deps: DomainPageDeps): void {
  const { read } = deps.store
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base } = visit
    const { id, name, keys } = await domainOf(deps, visit)
    const uses = await domainUses(read, account.id, name)
    const limited = (await listKeys(read, account.id)).filter(({ domains }) =>
      domains?.every((one) => one === name),
    )
    const view: RemoveView = {
      url: `${base}/domains/${name}`,
      accountId: account.id,
      id,
      name,
      faults,
      dkimKeys: keys.length,
      automations: uses.map(({ name: automation }) => ({ name: automation })),
      keys: limited.map((key) => ({ name: key.name, last4: key.last4 })),
    }
    return page('domains/remove', view, { title: `Remove ${name}` })
  }
  pages.get('/domains/:name/remove', 'domains.write', (visit) => show(visit, noFaults))

  const options = { action: 'domains.write', form: RemoveForm, again: show } as const
  pages.post('/domains/:name/remove', options, async (visit) => {
    const { account, base, form } = visit
    const { name } = await domainOf(deps, visit)
    // Typed, not clicked: the keys are then gone, and mail that is still on its way cannot be
    // verified with new ones.
    if (form.name.trim().toLowerCase() !== name) {
      const message = `Type ${name} to remove it`
      throw new ApiError('validation_error', message, { status: 422, fields: { field: 'name' } })
    }
    await deleteDomain(deps, account.id, name)
    const audit = auditOf(operations.deleteDomain, { target: name })
    const flash = `${name} is removed. Its DNS records can go once no mail from it is on its way`
    return redirect(`${base}/domains`, { flash, audit })
  })
}
