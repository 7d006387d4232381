import {
  type Account,
  accountById,
  createKey,
  deletedKey,
  deleteKey,
  insertAccount,
  listKeys,
  type OperatorPrincipal,
  pageOfAccounts,
  renameWithin,
  shownKey,
} from '../accounts/index.js'
import {
  type AccountBilling,
  findPlan,
  readBilling,
  readBillings,
  readUsage,
  readUsages,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
  type Usage,
  unsuspend,
} from '../billing/index.js'
import { isoTime } from '../clock/index.js'
import { serve, usualPage } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { type Api, type Remember, reply } from '../http/index.js'
import { pauseByOperator, unpause } from '../protection/index.js'
import { cursorOf, idInCursor, pageOf, type Read, type Tx } from '../store/index.js'
import * as operations from './contract-accounts.js'
import type { OperatorApiDeps } from './deps.js'
import { refusing } from './refusals.js'

/** Accounts, their plans and pauses: the same functions as `posthorn account` and the operator's pages. */
export function accountRoutes(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  const { store, clock, plans } = deps
  const { read } = store

  serve(api, operations.listAccounts, async ({ query: { limit = usualPage, cursor, q = '' } }) => {
    const scope = `operator/accounts ${q}`
    const after = cursor === undefined ? '' : idInCursor(cursor, scope)
    const found = await pageOfAccounts(read, { after, named: q, limit: limit + 1 })
    const { page, ...rest } = pageOf(found, limit, ({ id }) => cursorOf(id, scope))
    const ids = page.map(({ id }) => id)
    const billings = await readBillings(read, plans, ids)
    const usages = await readUsages(read, ids, clock.now())
    const accounts = page.flatMap((account) => {
      const billing = billings.get(account.id)
      return billing === undefined ? [] : [shownAccount(account, billing, usages.get(account.id))]
    })
    return { accounts, ...rest }
  })

  serve(api, operations.createAccount, async ({ body, remember, note }) => {
    const { setPlans } = await plansIn(deps, body)
    const given = { id: store.ids.uuid(), name: body.name, createdAt: clock.now() }
    const shown = await refusing(
      () =>
        store.write(async (tx) => {
          const { id } = await insertAccount(tx, given)
          await setPlans(tx, id)
          const made = await answerOf(deps, tx, id)
          await remember(tx, made, 201)
          return made
        }),
      { field: 'name' },
    )
    const { name, plan, marketingPlan } = shown
    note({ detail: { name, plan, marketingPlan } })
    return reply(201, shown)
  })

  serve(api, operations.getAccount, async ({ params }) => await answerOf(deps, read, params.id))

  serve(api, operations.updateAccount, async ({ params: { id }, body, note }) => {
    const { name, billingState } = body
    const { setPlans } = await plansIn(deps, body)
    return await store.write(async (tx) => {
      const before = await answerOf(deps, tx, id)
      if (name !== undefined) {
        await refusing(() => renameWithin(tx, id, name), { field: 'name' })
      }
      await setPlans(tx, id)
      if (billingState !== undefined) await setBillingState(tx, id, billingState)
      const after = await answerOf(deps, tx, id)
      note({ detail: changesIn(before, after) })
      return after
    })
  })

  keysOf(api, deps)
  serve(api, operations.listAllPlans, () => ({
    plans: plans.email.map(({ id, name, monthlyLimit }) => ({ id, name, monthlyLimit })),
    marketingPlans: plans.marketing.map(({ id, name, monthlySendLimit }) => ({
      id,
      name,
      monthlyLimit: monthlySendLimit,
    })),
  }))
  stopRoutes(api, deps)
}

/** Stops an account, and lets it go on. */
function stopRoutes(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  const { store, clock, config } = deps
  const change = async (
    { id, remember }: { id: string; remember: Remember },
    work: (tx: Tx) => Promise<unknown>,
  ) =>
    await store.write(async (tx) => {
      await accountOf(tx, id)
      await work(tx)
      const shown = await answerOf(deps, tx, id)
      await remember(tx, shown)
      return shown
    })
  // Who does it and why, for protection's own log.
  const orderOf = (id: string, { name }: OperatorPrincipal, note: string) => ({
    accountId: id,
    who: `the operator's key ${name}`,
    note,
    now: clock.now(),
    settings: config.protection,
  })

  serve(api, operations.suspendAccount, async ({ params: { id }, body, remember, note }) => {
    note({ detail: { reason: body.reason } })
    return await refusing(() => change({ id, remember }, (tx) => suspend(tx, id, body.reason)), {
      field: 'reason',
    })
  })
  serve(
    api,
    operations.unsuspendAccount,
    async ({ params: { id }, remember }) =>
      await change({ id, remember }, (tx) => unsuspend(tx, id)),
  )
  serve(
    api,
    operations.pauseAccount,
    async ({ account, params: { id }, body, remember, note: log }) => {
      const { reason, marketing = false, note } = body
      log({ detail: { reason, marketing, note } })
      const order = { ...orderOf(id, account, note), reason, marketing }
      return await refusing(() => change({ id, remember }, (tx) => pauseByOperator(tx, order)), {
        code: 'conflict',
      })
    },
  )
  serve(
    api,
    operations.unpauseAccount,
    async ({ account, params: { id }, body, remember, note: log }) => {
      log({ detail: { note: body.note } })
      return await refusing(
        () => change({ id, remember }, (tx) => unpause(tx, orderOf(id, account, body.note))),
        { code: 'conflict' },
      )
    },
  )
}

/** The keys of an account; nobody else could make one for a new account. */
function keysOf(api: Api<OperatorPrincipal>, deps: OperatorApiDeps): void {
  const { store, plans } = deps
  serve(api, operations.listAccountKeys, async ({ params: { id } }) => {
    await accountOf(store.read, id)
    return { keys: (await listKeys(store.read, id)).map((key) => keyForOperator(shownKey(key))) }
  })
  serve(api, operations.createAccountKey, async ({ params: { id }, body, remember, note }) => {
    await accountOf(store.read, id)
    const made = await createKey(deps, id, body.name, {
      plans,
      limits: body.scope === undefined ? {} : { scope: body.scope },
      // The key itself is not stored: a repeated request gets the answer without it.
      alongside: (tx, key) => remember(tx, { ...keyForOperator(shownKey(key)), key: null }, 201),
    })
    const shown = keyForOperator(shownKey(made))
    note({ target: shown.id, detail: { name: shown.name, scope: shown.scope } })
    return reply(201, { ...shown, key: made.key })
  })
  serve(api, operations.deleteAccountKey, async ({ params: { id, key }, note }) => {
    await accountOf(store.read, id)
    const { name, scope } = await deleteKey(deps, id, key)
    note({ detail: { name, scope } })
    return deletedKey(key)
  })
}

const keyForOperator = ({
  id,
  name,
  last4,
  scope,
  createdAt,
  lastUsedAt,
}: ReturnType<typeof shownKey>) => ({ id, name, last4, scope, createdAt, lastUsedAt })

/** The account of a path. Throws a 404. */
export async function accountOf(read: Read, id: string): Promise<Account> {
  const found = await accountById(read, id)
  if (found !== undefined) return found
  throw new ApiError('not_found', operations.anyAccount.notFound)
}

/** The plans that a body names, found before anything is written. Throws a 422. */
async function plansIn(
  { plans }: OperatorApiDeps,
  { plan: named, marketingPlan }: { plan?: string | undefined; marketingPlan?: string | undefined },
) {
  const find = () => (named === undefined ? undefined : findPlan(plans.email, named))
  const findMarketing = () => {
    if (marketingPlan === undefined) return undefined
    return marketingPlan.toLowerCase() === 'none' ? null : findPlan(plans.marketing, marketingPlan)
  }
  const plan = await refusing(find, { field: 'plan' })
  const marketing = await refusing(findMarketing, { field: 'marketingPlan' })
  return {
    setPlans: async (tx: Tx, accountId: string) => {
      if (plan !== undefined) await setPlan(tx, accountId, plan)
      if (marketing !== undefined) await setMarketingPlan(tx, accountId, marketing)
    },
  }
}

/** What a change has changed about an account, each as `Free → Growth`; unchanged values are left out. */
function changesIn(before: ShownAccount, after: ShownAccount): Record<string, string> {
  const changed = ['name', 'plan', 'marketingPlan', 'billingState'] as const
  return Object.fromEntries(
    changed
      .filter((field) => before[field] !== after[field])
      .map((field) => [field, `${before[field] ?? 'none'} → ${after[field] ?? 'none'}`]),
  )
}

type ShownAccount = ReturnType<typeof shownAccount>

async function answerOf({ plans, clock }: OperatorApiDeps, read: Read, id: string) {
  const account = await accountOf(read, id)
  const billing = await readBilling(read, plans, id)
  return shownAccount(account, billing, await readUsage(read, id, clock.now()))
}

const shownAccount = (account: Account, billing: AccountBilling, usage: Usage | undefined) => ({
  id: account.id,
  name: account.name,
  createdAt: isoTime(account.createdAt),
  plan: billing.plan.name,
  planId: billing.plan.id,
  marketingPlan: billing.marketingPlan?.name ?? null,
  billingState: billing.state,
  suspended: billing.suspended,
  paused: billing.paused,
  marketingPaused: billing.marketingPaused,
  surgeId: billing.surgeId,
  mailsToday: usage?.dayMails ?? 0,
  mailsThisMonth: usage?.monthMails ?? 0,
  dailyLimit: billing.plan.dailyLimit,
  monthlyLimit: billing.plan.monthlyLimit,
})
