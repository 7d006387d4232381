import { enums, object, optional, string } from 'superstruct'
import {
  findPlan,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
  unsuspend,
} from '../../billing/index.js'
import { ApiError } from '../../errors/index.js'
import { pauseByOperator, unpause } from '../../protection/index.js'
import type { Tx } from '../../store/index.js'
import { type PageAnswer, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import { accountOf, standingPage } from './account.js'
import type { OperatorPageDeps } from './deps.js'

/** The fields of the forms; each POST has its own form. */
const Pausing = object({
  reason: enums(['bounce', 'complaint']),
  marketing: optional(string()),
  pauseNote: string(),
})
const Planning = object({
  plan: string(),
  marketingPlan: string(),
  state: enums(['active', 'past_due', 'expired']),
})

/** What an operator changes in an account, by the same functions as `posthorn account …`. */
export function accountChangePages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const { clock, plans, config } = deps
  const again = (visit: OperatorVisit, faults: Faults) => standingPage(deps, visit, faults)
  // `sudo`: these forms stop or start somebody else's mail.
  const writes = { action: 'operator.write', sudo: true, again } as const
  // Who does it and why, in the form of protection's own audit log.
  const orderOf = ({ params, actor }: Pick<OperatorVisit, 'params' | 'actor'>, note: string) => ({
    accountId: params.id ?? '',
    who: actor.name,
    note,
    now: clock.now(),
    settings: config.protection,
  })

  pages.post(
    '/accounts/:id/unpause',
    { ...writes, form: object({ note: string() }) },
    async (visit) => {
      const order = orderOf(visit, given('note', visit.form.note))
      return await change(
        deps,
        visit,
        'account.unpause',
        { note: order.note },
        {
          work: (tx, accountId) => unpause(tx, { ...order, accountId }),
          flash: 'It may send again. What waited leaves within seconds',
        },
      )
    },
  )
  pages.post('/accounts/:id/pause', { ...writes, form: Pausing }, async (visit) => {
    const { reason, pauseNote, marketing: ticked } = visit.form
    const order = orderOf(visit, given('pauseNote', pauseNote))
    const marketing = ticked !== undefined
    return await change(
      deps,
      visit,
      'account.pause',
      { reason, marketing, note: order.note },
      {
        work: (tx, accountId) => pauseByOperator(tx, { ...order, accountId, reason, marketing }),
        flash: marketing ? 'Its marketing is paused' : 'It is paused; what is queued waits',
      },
    )
  })
  pages.post('/accounts/:id/plan', { ...writes, form: Planning }, async (visit) => {
    const { plan: planId, marketingPlan: marketingId, state } = visit.form
    const plan = findPlan(plans.email, planId)
    const marketing = marketingId === 'none' ? null : findPlan(plans.marketing, marketingId)
    const detail = { plan: plan.name, marketingPlan: marketing?.name ?? 'none', state }
    return await change(deps, visit, 'account.plan', detail, {
      async work(tx, accountId) {
        // All three in one transaction: no request sees a new plan in an old state.
        await setPlan(tx, accountId, plan)
        await setMarketingPlan(tx, accountId, marketing)
        await setBillingState(tx, accountId, state)
      },
      flash: `Its plan is ${plan.name}; it holds from the next request on`,
    })
  })
  pages.post(
    '/accounts/:id/suspend',
    { ...writes, form: object({ suspendReason: string() }) },
    async (visit) => {
      const reason = given('suspendReason', visit.form.suspendReason)
      return await change(
        deps,
        visit,
        'account.suspend',
        { reason },
        {
          work: (tx, accountId) => suspend(tx, accountId, reason),
          flash: 'It is suspended and sends nothing',
        },
      )
    },
  )
  pages.post('/accounts/:id/unsuspend', writes, async (visit) =>
    change(deps, visit, 'account.unsuspend', {}, { work: unsuspend, flash: 'It may send again' }),
  )
}

/** What is written in one transaction, and what is said afterwards. */
interface Change {
  work: (tx: Tx, accountId: string) => Promise<unknown>
  flash: string
}

/** Makes the change, and notes it in the audit log by the account's name: an id says nothing to a reader. */
async function change(
  { store }: OperatorPageDeps,
  { params }: Pick<OperatorVisit, 'params'>,
  action: string,
  detail: Record<string, unknown>,
  { work, flash }: Change,
): Promise<PageAnswer> {
  const { id, name } = await accountOf(store.read, params.id)
  await store.write((tx) => work(tx, id))
  return redirect(`/operator/accounts/${id}`, {
    flash: `${name}: ${flash}`,
    audit: { action, target: name, accountId: id, detail },
  })
}

/** Whoever changes what an account may do has to say why. */
function given(field: string, text: string): string {
  const trimmed = text.trim()
  if (trimmed !== '') return trimmed
  const options = { status: 422, fields: { field } }
  throw new ApiError('validation_error', 'Say why: it stays in the audit log', options)
}
