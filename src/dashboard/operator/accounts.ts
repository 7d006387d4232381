import { object, string } from 'superstruct'
import { createAccount, pageOfAccounts } from '../../accounts/index.js'
import { type AccountBilling, readBillings, readUsages } from '../../billing/index.js'
import { pageOf } from '../../store/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { listOf } from '../shell/listing.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'

const perPage = 50

/** `/operator/accounts`: the accounts of this appliance, and a form for a new one. */
export function accountListPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const show = (visit: OperatorVisit, faults: Faults = noFaults) => listPage(deps, visit, faults)
  pages.get('/accounts', 'operator.read', (visit) => show(visit))
  pages.post(
    '/accounts',
    { action: 'operator.write', form: object({ name: string() }), sudo: true, again: show },
    async ({ form }) => {
      const { id, name } = await createAccount(deps, form.name)
      return redirect(`/operator/accounts/${id}`, {
        flash: `The account "${name}" is there. Invite its people, or make it a key`,
        audit: { action: 'account.create', target: id, detail: { name } },
      })
    },
  )
}

/** Billing and usage are read for all accounts of the page at once: 50 queries fewer. */
async function listPage(
  { store: { read }, plans }: OperatorPageDeps,
  { query, now, may }: OperatorVisit,
  faults: Faults,
): Promise<PageAnswer> {
  const named = query.get('q')?.trim() ?? ''
  const listing = { path: '/operator/accounts', query, filters: { q: named } }
  const { rows: accounts, ...beside } = await listOf(listing, async (after = '') => {
    const found = await pageOfAccounts(read, { after, named, limit: perPage + 1 })
    return pageOf(found, perPage, ({ id }) => id)
  })
  const ids = accounts.map(({ id }) => id)
  const billings = await readBillings(read, plans, ids)
  const usages = await readUsages(read, ids, now)
  const view = {
    now,
    named,
    faults,
    mayAdd: may('operator.write'),
    rows: accounts.map(({ id, name, createdAt }) => ({
      id,
      name,
      createdAt,
      ...stateOf(billings.get(id)),
      plan: billings.get(id)?.plan.name ?? '',
      month: (usages.get(id)?.monthMails ?? 0).toLocaleString('en-GB'),
      day: (usages.get(id)?.dayMails ?? 0).toLocaleString('en-GB'),
    })),
    ...beside,
  }
  return page('operator/accounts', view, { title: 'Accounts' })
}

/** The state of an account, in a word. */
export function stateOf(billing: AccountBilling | undefined): {
  state: string
  tone: 'good' | 'doubt' | 'bad'
} {
  if (billing === undefined) return { state: 'active', tone: 'good' }
  const { suspended, paused, marketingPaused, state } = billing
  // The gravest state first, because one word is shown: a suspended account may also be paused.
  if (suspended !== null) return { state: 'suspended', tone: 'bad' }
  if (state === 'expired') return { state: 'expired', tone: 'bad' }
  if (paused !== null) return { state: `paused: ${paused}s`, tone: 'bad' }
  if (marketingPaused !== null)
    return { state: `marketing paused: ${marketingPaused}s`, tone: 'bad' }
  if (state === 'past_due') return { state: 'past due', tone: 'doubt' }
  return { state: 'active', tone: 'good' }
}
