import { readBilling } from '../../billing/index.js'
import {
  type AudienceNow,
  audienceNow,
  type Broadcast,
  type BroadcastStatus,
  countBroadcastsOf,
  leavesFrom,
  listBroadcastsOf,
  ratesOf,
  type Unmeasured,
  unmeasuredOf,
  whomOf,
} from '../../broadcasts/index.js'
import { goneNames } from '../../contacts/index.js'
import { sumCampaigns } from '../../stats/index.js'
import type { Read } from '../../store/index.js'
import { type Moment, moment } from '../format.js'
import { namesOf } from '../segments/names.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, linkTo, listOf } from '../shell/listing.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'
import { waitsWords } from './waits.js'
import {
  type AudienceNames,
  campaignName,
  chipOf,
  isAudienceGone,
  shown,
  waitsForFirstClock,
  whomWords,
} from './words.js'

const outcomes = ['Delivered', 'Opened', 'Clicked', 'Left'] as const
type FigureName = (typeof outcomes)[number] | 'To send'

interface CampaignsOf {
  label: string
  statuses: readonly BroadcastStatus[]
  /** The columns of numbers that say something of these. */
  figures: readonly FigureName[]
}

const views = {
  drafts: { label: 'Drafts', statuses: ['draft'], figures: ['To send'] },
  going: {
    label: 'On their way',
    statuses: ['scheduled', 'sending', 'paused'],
    figures: [...outcomes, 'To send'],
  },
  sent: { label: 'Sent', statuses: ['sent'], figures: outcomes },
  ended: { label: 'Ended', statuses: ['cancelled', 'failed'], figures: [...outcomes, 'To send'] },
} as const satisfies Record<string, CampaignsOf>

type ViewName = keyof typeof views

interface CampaignsView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  noPlan: boolean
  what: string
  figures: { label: FigureName; kind: 'number' }[]
  isFirst: boolean
  tabs: { label: string; href: string; here: boolean }[]
  campaigns: {
    page: string
    /** Undefined: nothing of it has left. */
    report: string | undefined
    name: string
    subject: string
    to: string
    when: Moment
    chip: { text: string; tone: Tone }
    /** What it waits for; undefined: the chip says it. */
    waits: string | undefined
    figures: Readonly<Partial<Record<FigureName, string>>>
  }[]
  /** Those that are being sent: how far each is. */
  sending: {
    page: string
    name: string
    done: number
    toMake: number
    text: string
    waits: string | undefined
  }[]
}

const perPage = 25
// A tab tells so many; more are 'and more', as nothing is counted for a page.
const mostInTab = 20
const mostSending = 5

/** The campaigns of an account, by state. */
export async function campaignsPage(deps: CampaignPageDeps, visit: Visit): Promise<PageAnswer> {
  const { read } = deps.store
  const { account, base, now, query, person } = visit
  const zone = person.timeZone ?? 'UTC'
  const asked = query.get('show') ?? ''
  const chosen: ViewName = Object.hasOwn(views, asked) ? (asked as ViewName) : 'drafts'
  const path = `${base}/campaigns`
  const filters = { show: chosen === 'drafts' ? undefined : chosen }
  const { rows, newer, older } = await listOf({ path, query, filters }, async (after) => {
    const { statuses } = views[chosen]
    const found = await listBroadcastsOf(read, account.id, statuses, {
      limit: perPage + 1,
      before: after,
    })
    const some = found.slice(0, perPage)
    return { page: some, nextCursor: found.length > perPage ? (some.at(-1)?.id ?? null) : null }
  })
  const names = await audienceNames(read, account.id, rows)
  const begun = rows.filter(({ sent_at }) => sent_at !== null).map(({ id }) => id)
  const sums = await sumCampaigns(read, begun)
  const sending = await listBroadcastsOf(read, account.id, ['sending'], { limit: mostSending })
  const tabs = await campaignTabs(read, { accountId: account.id, base, here: chosen })
  const billing = await readBilling(read, deps.plans, account.id)
  const view: CampaignsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('campaigns.write'),
    noPlan: billing.marketingPlan === null,
    what: views[chosen].label,
    figures: views[chosen].figures.map((label) => ({ label, kind: 'number' })),
    isFirst: chosen === 'drafts',
    tabs,
    newer,
    older,
    sending: sending
      .filter(({ recipients }) => recipients > 0)
      .map((one) => sendingOf(one, { base, now, zone })),
    campaigns: await Promise.all(
      rows.map(async (one) => {
        const { unsubscribed = 0 } = sums.get(one.id) ?? {}
        const told = await toldOf(deps, one)
        return rowOf(one, { base, now, names, zone, left: unsubscribed, ...told })
      }),
    ),
  }
  return page('campaigns/list', view, { title: 'Campaigns' })
}

/** The states of campaigns with how many are in each, and the calendar. */
export async function campaignTabs(
  read: Read,
  { accountId, base, here }: { accountId: string; base: string; here: ViewName | 'calendar' },
): Promise<CampaignsView['tabs']> {
  const path = `${base}/campaigns`
  const tabs = []
  for (const [name, { label, statuses }] of Object.entries(views)) {
    const count = await countBroadcastsOf(read, accountId, statuses, mostInTab + 1)
    const number = count > mostInTab ? `${mostInTab}+` : String(count)
    const show = name === 'drafts' ? undefined : name
    tabs.push({ label: `${label} (${number})`, href: linkTo(path, { show }), here: name === here })
  }
  return [...tabs, { label: 'Calendar', href: `${path}/calendar`, here: here === 'calendar' }]
}

function sendingOf(
  one: Broadcast,
  { base, now, zone }: Pick<RowOptions, 'base' | 'now' | 'zone'>,
): CampaignsView['sending'][number] {
  const toMake = Math.max(one.audience, one.recipients)
  const done = one.recipients - one.waiting
  const text = `${shown(done)} of ${shown(toMake)} mails are done`
  const waits = waitsWords(one, { now, zone })
  return { page: `${base}/campaigns/${one.id}`, name: campaignName(one), done, toMake, text, waits }
}

interface RowOptions {
  /** Of who looks. */
  zone: string
  base: string
  now: number
  names: AudienceNames
  /** How many left by it. */
  left: number
  /** Undefined: it has not begun. */
  unmeasured?: Unmeasured
  audience?: AudienceNow
}

/** What a row says of a campaign beside its own counters. */
const toldOf = async (
  deps: CampaignPageDeps,
  one: Broadcast,
): Promise<Pick<RowOptions, 'unmeasured' | 'audience'>> =>
  one.sent_at === null
    ? { audience: await audienceNow(deps.store.read, one) }
    : {
        unmeasured: await unmeasuredOf(deps, one),
        audience: { people: one.audience, isCounted: true },
      }

function rowOf(
  one: Broadcast,
  { base, now, names, zone, left, unmeasured, audience }: RowOptions,
): CampaignsView['campaigns'][number] {
  const { openRate, clickRate } = ratesOf(one)
  const begun = one.sent_at !== null && !waitsForFirstClock(one)
  const known = (why: string | null | undefined, count: number, rate: number) =>
    why === null ? `${shown(count)} (${rate} %)` : '–'
  return {
    page: `${base}/campaigns/${one.id}`,
    report: begun ? `${base}/campaigns/${one.id}/report` : undefined,
    name: campaignName(one),
    subject: one.subject,
    to: whomWords(one, names),
    when: moment(
      (begun ? one.sent_at : null) ??
        (one.status === 'scheduled' ? leavesFrom(one) : one.scheduled_at) ??
        one.changed_at ??
        one.created_at,
      now,
    ),
    chip: chipOf(one),
    waits: waitsWords(one, { now, zone }),
    figures: begun
      ? {
          Delivered: shown(one.delivered + one.relayed),
          Opened: known(unmeasured?.opens, one.opened, openRate),
          Clicked: known(unmeasured?.clicks, one.clicked, clickRate),
          Left: shown(left),
          'To send': shown(leftToSend(one)),
        }
      : { 'To send': toSendWords(one, isAudienceGone(one, names) ? nobodyNow : audience) },
  }
}

/** Mails that are made and have not ended, and those that are still to be made. */
function leftToSend({ status, audience, recipients, waiting, expanded }: Broadcast): number {
  const isOn = expanded === 0 && (status === 'sending' || status === 'paused')
  return waiting + (isOn ? Math.max(0, audience - recipients) : 0)
}

const nobodyNow: AudienceNow = { people: 0, isCounted: true }

/** How many a campaign would reach that has not begun; what has ended reaches nobody any more. */
function toSendWords({ status }: Broadcast, audience: AudienceNow | undefined): string {
  if (audience === undefined || status === 'cancelled' || status === 'failed') return '–'
  return audience.isCounted ? shown(audience.people) : `about ${shown(audience.people)}`
}

/** The names of the lists and segments that an account's campaigns go to. */
export async function audienceNames(
  read: Read,
  accountId: string,
  campaigns: readonly Pick<Broadcast, 'list_id' | 'whom'>[],
): Promise<AudienceNames> {
  const ids = campaigns.flatMap((one) => Object.values(whomOf(one)).flat() as string[])
  const names = await namesOf(read, accountId, ids)
  const missing = ids.filter((id) => !names.has(id))
  return { names, gone: await goneNames(read, accountId, missing) }
}
