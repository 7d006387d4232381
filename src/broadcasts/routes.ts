import type { Principal } from '../accounts/index.js'
import {
  checkOpen,
  contactCeiling,
  marketingStop,
  monthEndsAt,
  type Plans,
  readBilling,
  readUsage,
} from '../billing/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { contactTotal } from '../contacts/index.js'
import { type EmailDeps, maxSendBytes, refuseForeignFields } from '../emails/index.js'
import type { Api } from '../http/index.js'
import { cursorOf, idInCursor, type Store } from '../store/index.js'
import {
  type BroadcastDeps,
  findBroadcast,
  findBroadcastDetail,
  listBroadcasts,
} from './broadcast.js'
import { changeDraft } from './change.js'
import { createBroadcast } from './create.js'
import { sendDraft } from './dispatch-campaign.js'
import { hasRoomForCampaigns } from './expand.js'
import { previewAudience, sendTest } from './preview.js'
import { listRecipients, pageOfRecipients } from './recipients.js'
import {
  BroadcastBody,
  BroadcastParams,
  BroadcastsQuery,
  ChangesBody,
  PreviewBody,
  RecipientsQuery,
  TestBody,
  usualPage,
} from './shapes.js'
import { shownBroadcast, shownDetail, shownMade, shownRecipient } from './shown.js'
import { cancelBroadcast, pauseBroadcast, resumeBroadcast } from './stop.js'

type BroadcastRouteDeps = BroadcastDeps & EmailDeps

const scopeOf = (accountId: string) => `broadcasts ${accountId}`

// Each recipient gets a mail of their own, so there are no copies.
const campaignFields = [
  'attachments',
  'headers',
  'tags',
  'replyTo',
  'scheduledAt',
  'topicId',
] as const

// interface.md, Limits.
const maxRecipientsShown = 1_000

/** In three parts by what they do: make and change, read, and start or stop. */
export function broadcastRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  contentRoutes(api, deps)
  lookRoutes(api, deps)
  courseRoutes(api, deps)
}

/** Preview, test, making one, and changing a draft. */
function contentRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  api.post(
    '/v1/broadcasts/preview',
    { body: PreviewBody },
    async ({ account: { accountId }, body }) => {
      checkOpen(await billingOf(accountId))
      const topicId = body.topicId?.toLowerCase() ?? null
      return await previewAudience(read, { accountId, listId: body.listId.toLowerCase(), topicId })
    },
  )

  const maxBodyBytes = maxSendBytes(deps.attachments.maxBytes)
  api.post(
    '/v1/broadcasts/test',
    { body: TestBody, maxBodyBytes },
    async ({ account, body, remember }) => {
      refuseForeignFields(body, [...campaignFields, 'to'])
      return await sendTest(deps, await billingOf(account.accountId), body, remember)
    },
  )

  api.post(
    '/v1/broadcasts',
    { body: BroadcastBody, maxBodyBytes },
    async ({ account, body, remember }) => {
      refuseForeignFields(body, campaignFields)
      const { draft = false, ...input } = body
      const billing = await billingOf(account.accountId)
      const made = await createBroadcast(deps, billing, input, {
        draft,
        alongside: (tx, made) => remember(tx, shownMade(made)),
      })
      return shownMade(made)
    },
  )

  api.patch(
    '/v1/broadcasts/:id',
    { ...BroadcastParams, body: ChangesBody, maxBodyBytes },
    async ({ account: { accountId }, params: { id }, body }) => {
      refuseForeignFields(body, campaignFields)
      await changeDraft(deps, await billingOf(accountId), id, body)
      return await detailOf(deps, accountId, id)
    },
  )
}

/** One campaign with its first recipients. */
async function detailOf(deps: BroadcastRouteDeps, accountId: string, id: string) {
  const { store, plans, clock, backlog, maxQueued } = deps
  const broadcast = await findBroadcastDetail(store.read, accountId, id)
  const stop = marketingStop(await readBilling(store.read, plans, accountId))
  const recipients = await listRecipients(store.read, id, maxRecipientsShown)
  const hasRoom = hasRoomForCampaigns(backlog, maxQueued)
  return shownDetail(broadcast, stop, clock.now(), { recipients, hasRoom })
}

/** The list, one with its recipients, the plan's usage. */
function lookRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  api.get(
    '/v1/broadcasts',
    { query: BroadcastsQuery },
    async ({ account: { accountId }, query: { limit = usualPage, cursor } }) => {
      const before = cursor === undefined ? undefined : idInCursor(cursor, scopeOf(accountId))
      const found = await listBroadcasts(read, accountId, { limit: limit + 1, before })
      const stop = marketingStop(await billingOf(accountId))
      const now = deps.clock.now()
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const hasMore = found.length > limit
      return {
        broadcasts: page.map((broadcast) => shownBroadcast(broadcast, stop, now)),
        hasMore,
        nextCursor: hasMore && last !== undefined ? cursorOf(last.id, scopeOf(accountId)) : null,
      }
    },
  )

  api.get('/v1/broadcasts/plan/usage', {}, ({ account }) => marketingUsage(deps, account.accountId))

  api.get('/v1/broadcasts/:id', BroadcastParams, ({ account, params: { id } }) =>
    detailOf(deps, account.accountId, id),
  )

  api.get(
    '/v1/broadcasts/:id/recipients',
    { ...BroadcastParams, query: RecipientsQuery },
    async ({ account: { accountId }, params: { id }, query }) => {
      const { limit = usualPage, cursor, status } = query
      const scope = `recipients ${id} ${status ?? ''}`
      await findBroadcast(read, accountId, id)
      const after = cursor === undefined ? undefined : idInCursor(cursor, scope)
      const asked = { status, after, limit }
      const { recipients, endsAt } = await pageOfRecipients(read, id, asked)
      return {
        recipients: recipients.map(shownRecipient),
        hasMore: endsAt !== null,
        nextCursor: endsAt === null ? null : cursorOf(endsAt, scope),
      }
    },
  )
}

/** Sending a draft; pausing, resuming, cancelling. */
function courseRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  api.post(
    '/v1/broadcasts/:id/send',
    BroadcastParams,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const billing = await readBilling(deps.store.read, deps.plans, accountId)
      const sent = await sendDraft(deps, billing, id, (tx, sent) => remember(tx, shownMade(sent)))
      return shownMade(sent)
    },
  )

  api.post(
    '/v1/broadcasts/:id/pause',
    BroadcastParams,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const answer = { id, status: 'paused', message: 'Campaign paused' }
      const how = { reason: 'paused by the account', byAccount: true }
      await pauseBroadcast(
        deps,
        { account_id: accountId, id },
        { ...how, alongside: (tx) => remember(tx, answer) },
      )
      return answer
    },
  )

  api.post(
    '/v1/broadcasts/:id/resume',
    BroadcastParams,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const answer = { id, message: 'The campaign goes on' }
      await resumeBroadcast(
        deps,
        { account_id: accountId, id },
        { byAccount: true, alongside: (tx) => remember(tx, answer) },
      )
      deps.expand()
      return answer
    },
  )

  api.post(
    '/v1/broadcasts/:id/cancel',
    BroadcastParams,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const answer = { id, status: 'cancelled', message: 'Campaign cancelled' }
      await cancelBroadcast(deps, accountId, id, (tx) => remember(tx, answer))
      return answer
    },
  )
}

/** interface.md, Marketing usage. Without a plan it is that of the smallest, which could be had. */
async function marketingUsage(
  { store: { read }, clock, plans }: { store: Store; clock: Clock; plans: Plans },
  accountId: string,
) {
  const now = clock.now()
  const billing = await readBilling(read, plans, accountId)
  const { marketingPlan } = billing
  const [smallest] = plans.marketing.toSorted((a, b) => a.contacts - b.contacts)
  const plan = marketingPlan ?? smallest
  if (plan === undefined) throw new Error('plans.toml has no marketing plan')
  const ceiling = contactCeiling(plans, billing)
  const { monthCampaignMails } = await readUsage(read, accountId, now)
  const pausedReason = marketingStop(billing)
  return {
    plan: {
      id: plan.id,
      name: plan.name,
      priceNaira: plan.priceNaira,
      maxMarketingContacts: plan.contacts,
    },
    subscribed: marketingPlan !== null,
    contacts: await contactTotal(read, accountId),
    // As with the mails of plans without a limit.
    contactLimit: ceiling ?? 0,
    ...(ceiling === null ? { unlimitedContacts: true } : {}),
    monthlySendLimit: plan.monthlySendLimit,
    sentThisMonth: monthCampaignMails,
    unlimitedSends: plan.monthlySendLimit === null,
    periodEnd: isoTime(monthEndsAt(now)),
    paused: pausedReason !== null,
    pausedReason,
  }
}
