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
import { serve, usualPage } from '../contract/index.js'
import { type EmailDeps, maxSendBytes, ownFields, refuseForeignFields } from '../emails/index.js'
import type { Api } from '../http/index.js'
import type { Store, Tx } from '../store/index.js'
import {
  broadcastAnswer,
  broadcastsAnswer,
  cancelledBroadcast,
  chosenVariant,
  pausedBroadcast,
  resumedBroadcast,
  takenBackBroadcast,
} from './answers.js'
import { lookedAtPeople, withPeopleOfReport } from './audience-of-report.js'
import { type BroadcastDeps, findBroadcast } from './broadcast.js'
import { changeDraft } from './change.js'
import * as operations from './contract.js'
import { NewBroadcast, TestBroadcast } from './contract-fields.js'
import { createBroadcast } from './create.js'
import { chooseVariant } from './decide.js'
import { sendDraft } from './dispatch-campaign.js'
import { duplicateBroadcast } from './duplicate.js'
import { hasRoomForCampaigns } from './expand.js'
import { type MeasureDeps, requireOpensMeasured } from './measured.js'
import { previewAudience, previewPeople, sendTest } from './preview.js'
import { recipientsAnswer } from './recipients-answer.js'
import { broadcastReport } from './report.js'
import { shownMade } from './shown.js'
import {
  cancelBroadcast,
  cancelRest,
  pauseBroadcast,
  pausedByAccount,
  resumeBroadcast,
  takeBack,
} from './stop.js'
import { requireWhom, whomIn } from './whom.js'

type BroadcastRouteDeps = BroadcastDeps &
  EmailDeps & {
    /** How a campaign would go (`rehearsals/`). */
    rehearse: (accountId: string, id: string) => Promise<unknown>
  } & Pick<MeasureDeps, 'tracking'>

// Each recipient gets a mail of their own, so there are no copies.
const ofCampaign = ownFields(NewBroadcast)
const ofTest = ownFields(TestBroadcast)

/** In three parts: routes that make and change, that read, and that start or stop. */
export function broadcastRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  contentRoutes(api, deps)
  lookRoutes(api, deps)
  courseRoutes(api, deps)
}

/** Preview, test, making one, and changing a draft. */
function contentRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  serve(api, operations.previewBroadcast, async ({ account: { accountId }, body }) => {
    checkOpen(await billingOf(accountId))
    const looked = await lookedAtPeople(deps, accountId, body)
    const topicId = body.topicId?.toLowerCase() ?? null
    if (!('given' in looked)) {
      const { rule } = looked
      const isAlone = looked.isAlone && topicId === null
      return await previewPeople(deps, accountId, { rule, isAlone })
    }
    const whom = whomIn(looked.given)
    await requireWhom(read, accountId, whom)
    return await previewAudience(read, { accountId, whom, topicId })
  })

  const large = { maxBodyBytes: maxSendBytes(deps.attachments.maxBytes) }
  serve(
    api,
    operations.testBroadcast,
    async ({ account, body, remember }) => {
      refuseForeignFields(body, ofTest)
      const { accountId } = account
      const looked = await lookedAtPeople(deps, accountId, body)
      // A test goes to nobody of its audience.
      const given = 'given' in looked ? looked.given : Object.assign({}, body, { audience: {} })
      return await sendTest(deps, await billingOf(accountId), given, remember)
    },
    large,
  )

  serve(
    api,
    operations.createBroadcast,
    async ({ account, body, remember }) => {
      refuseForeignFields(body, ofCampaign)
      const { draft = false, ...asked } = body
      const billing = await billingOf(account.accountId)
      const input = await withPeopleOfReport(deps, billing, asked)
      const made = await createBroadcast(deps, billing, input, {
        draft,
        alongside: (tx, made) => remember(tx, shownMade(made)),
      })
      return shownMade(made)
    },
    large,
  )

  serve(
    api,
    operations.updateBroadcast,
    async ({ account: { accountId }, params: { id }, body }) => {
      refuseForeignFields(body, ofCampaign)
      const billing = await billingOf(accountId)
      const given = await withPeopleOfReport(deps, billing, body)
      await changeDraft(deps, billing, id, given)
      return await detailOf(deps, accountId, id)
    },
    large,
  )
}

/** One campaign with its first recipients. */
async function detailOf(deps: BroadcastRouteDeps, accountId: string, id: string) {
  const { store, clock, backlog, maxQueued } = deps
  const hasRoom = hasRoomForCampaigns(backlog, maxQueued)
  return await broadcastAnswer(store.read, { accountId, id }, { hasRoom, now: clock.now() })
}

/** The list, one campaign with its recipients, the plan's usage. */
function lookRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  const { read } = deps.store

  serve(api, operations.rehearseBroadcast, ({ account, params }) =>
    deps.rehearse(account.accountId, params.id),
  )

  serve(api, operations.listBroadcasts, ({ account, query: { limit = usualPage, cursor } }) =>
    broadcastsAnswer(read, account.accountId, { limit, cursor }, deps.clock.now()),
  )

  serve(api, operations.getMarketingUsage, ({ account }) => marketingUsage(deps, account.accountId))

  serve(api, operations.getBroadcast, ({ account, params: { id } }) =>
    detailOf(deps, account.accountId, id),
  )

  serve(
    api,
    operations.listBroadcastRecipients,
    async ({ account: { accountId }, params: { id }, query }) => {
      const broadcast = await findBroadcast(read, accountId, id)
      await requireOpensMeasured(deps, broadcast, query)
      return await recipientsAnswer(read, id, { limit: usualPage, ...query })
    },
  )

  serve(api, operations.getBroadcastReport, ({ account: { accountId }, params: { id } }) =>
    broadcastReport(deps, accountId, id),
  )
}

/** Sending a draft; pausing, resuming, cancelling. */
function courseRoutes(api: Api<Principal>, deps: BroadcastRouteDeps): void {
  serve(
    api,
    operations.duplicateBroadcast,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const billing = await readBilling(deps.store.read, deps.plans, accountId)
      const made = await duplicateBroadcast(deps, billing, id, {
        alongside: (tx, made) => remember(tx, shownMade(made)),
      })
      return shownMade(made)
    },
  )

  serve(
    api,
    operations.sendBroadcast,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const billing = await readBilling(deps.store.read, deps.plans, accountId)
      const sent = await sendDraft(deps, billing, id, (tx, sent) => remember(tx, shownMade(sent)))
      return shownMade(sent)
    },
  )

  serve(api, operations.pauseBroadcast, async ({ account, params: { id }, remember }) => {
    const answer = pausedBroadcast(id)
    const how = { reason: pausedByAccount, byAccount: true }
    const alongside = (tx: Tx) => remember(tx, answer)
    await pauseBroadcast(deps, { account_id: account.accountId, id }, { ...how, alongside })
    return answer
  })

  serve(api, operations.resumeBroadcast, async ({ account, params: { id }, remember }) => {
    const answer = resumedBroadcast(id)
    const alongside = (tx: Tx) => remember(tx, answer)
    await resumeBroadcast(
      deps,
      { account_id: account.accountId, id },
      { byAccount: true, alongside },
    )
    deps.expand()
    return answer
  })

  serve(api, operations.cancelBroadcast, async ({ account, params: { id }, remember }) => {
    const answer = cancelledBroadcast(id)
    await cancelBroadcast(deps, account.accountId, id, (tx) => remember(tx, answer))
    return answer
  })

  serve(api, operations.cancelRestOfBroadcast, async ({ account, params: { id }, remember }) => {
    const answer = cancelledBroadcast(id)
    await cancelRest(deps, account.accountId, id, (tx) => remember(tx, answer))
    return answer
  })

  serve(
    api,
    operations.chooseBroadcastVariant,
    async ({ account, params: { id, key }, remember }) => {
      const answer = chosenVariant(id, key)
      await chooseVariant(deps, account.accountId, { id, key }, (tx) => remember(tx, answer))
      return answer
    },
  )

  serve(api, operations.takeBackBroadcast, async ({ account, params: { id }, remember }) => {
    const answer = takenBackBroadcast(id)
    await takeBack(deps, account.accountId, id, (tx) => remember(tx, answer))
    return answer
  })
}

/** interface.md, Marketing usage. Without a plan it is the usage of the smallest plan, which the account could get. */
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
    // As for the mails of plans without a limit.
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
