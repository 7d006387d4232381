import { object, optional, string } from 'superstruct'
import { counted } from '../../amounts/index.js'
import { readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  aheadMs,
  type Broadcast,
  draftVersions,
  findBroadcast,
  firstTime,
  judgeDraft,
  opensFrom,
  ownTimesOf,
  paceOf,
  sendDraft,
  takeBackMs,
  testSize,
} from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { exactIn, exactWithZone } from '../format.js'
import type { Followed } from '../sandbox/follow-links.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { checkList } from './check-list.js'
import { checksOf } from './checks.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { ledToCampaign } from './no-draft.js'
import { isTypedFor, refuseUntyped } from './typed-number.js'
import { contentsOf } from './version-checks.js'
import { subjectsSaid } from './versions.js'
import { campaignName, shown } from './words.js'

interface SendCampaignView {
  id: string
  page: string
  name: string
  subject: string
  revision: number
  checks: Html
  /** Only an owner may send it, and somebody else is looking. */
  isForOwners: boolean
  /** How many get it; undefined where it cannot be sent. */
  people: string | undefined
  typesNumber: boolean
  /** To how many it goes first, where it is tried in versions. */
  tested: string | undefined
  when: string
  /** Until when it can be taken back, in a sentence. */
  takeBack: string
  faults: Faults
}

const SendForm = object({ revision: string(), number: optional(string()) })

/** The checklist of a draft, and its sending, which can be taken back for a minute. */
export function sendPages(pages: AccountPages, deps: CampaignPageDeps): void {
  const { store, clock, plans } = deps
  const draftOf = async ({ account, params }: Pick<Visit, 'account' | 'params'>) => {
    const found = await findBroadcast(store.read, account.id, params.id ?? '')
    if (found.status !== 'draft') {
      throw new ApiError('conflict', `Only a draft can be sent; this campaign is ${found.status}`)
    }
    return found
  }
  const show = async (visit: Visit, faults: Faults) => {
    const found = await findBroadcast(store.read, visit.account.id, visit.params.id ?? '')
    if (found.status !== 'draft') return ledToCampaign(visit, found)
    return await showChecks(deps, visit, found, faults)
  }
  pages.get('/campaigns/:id/send', 'campaigns.write', (visit) => show(visit, noFaults))

  // Links are asked for when somebody wants it, and never because a page was opened: some of them confirm or order.
  const asking = { action: 'campaigns.write', reads: true } as const
  pages.post('/campaigns/:id/send/links', asking, async (visit) => {
    const draft = await draftOf(visit)
    const contents = await contentsOf(deps, draft, { label: '', href: '' })
    const urls = contents.flatMap(
      ({ made }) => made?.looked?.links.links.map(({ url }) => url) ?? [],
    )
    const followed = await deps.followLinks([...new Set(urls)])
    return await showChecks(deps, visit, draft, noFaults, followed)
  })

  const sending = { action: 'campaigns.write', form: SendForm, again: show } as const
  pages.post(
    '/campaigns/:id/send',
    sending,
    async ({ account, base, form, params, may, person }) => {
      const draft = await draftOf({ account, params })
      const { counts } = await judgeDraft(withExpand(deps), draft.account_id, draft.id)
      refuseUntyped(counts.reachable, form.number ?? '', 'number')
      const billing = await readBilling(store.read, plans, account.id)
      const options = {
        notBefore: clock.now() + takeBackMs,
        revision: Number(form.revision),
        byOwner: may('campaigns.notice'),
      }
      const sent = await sendDraft(withExpand(deps), billing, draft.id, undefined, options)
      return redirect(`${base}/campaigns/${sent.id}`, {
        flash: sentWords(sent, { soon: options.notBefore, zone: person.timeZone ?? 'UTC' }),
        audit: auditOf(operations.sendBroadcast, {
          target: sent.id,
          detail: { recipients: sent.audience },
        }),
      })
    },
  )
}

async function showChecks(
  deps: CampaignPageDeps,
  { account, base, person, now, may }: Visit,
  draft: Broadcast,
  faults: Faults,
  followed?: readonly Followed[],
): Promise<PageAnswer> {
  const zone = person.timeZone ?? 'UTC'
  const where = { accountId: account.id, base }
  const { checks, reachable } = await checksOf(deps, where, draft, { followed, zone })
  const name = campaignName(draft)
  const view: SendCampaignView = {
    id: draft.id,
    page: `${base}/campaigns/${draft.id}`,
    name,
    subject: await subjectsSaid(deps.store.read, draft),
    revision: draft.revision,
    checks: checkList(checks, zone),
    isForOwners: draft.notice_reason !== null && !may('campaigns.notice'),
    people: reachable === undefined ? undefined : shown(reachable),
    typesNumber: isTypedFor(reachable ?? 0),
    tested: await testedFirst(deps.store.read, draft, reachable ?? 0),
    when: await whenWords(deps.store.read, draft, { from: now + takeBackMs, zone }),
    takeBack: takeBackWords(draft, now + takeBackMs, zone),
    faults,
  }
  return page('campaigns/send', view, { title: `Send ${name}` })
}

/** When its first mail can leave: once its hours begin, where it has some. */
const leavesAt = (campaign: Broadcast, soon: number) =>
  opensFrom(paceOf(campaign), beginsAt(campaign, soon))

/** When it begins, which may be before a recipient’s own clock shows its time: no sooner than at `soon` (ms). */
const beginsAt = ({ scheduled_at: at, local_zone: local }: Broadcast, soon: number) =>
  Math.max(soon, at === null ? soon : firstTime(at, local))

function takeBackWords(draft: Broadcast, soon: number, zone: string): string {
  const begins = beginsAt(draft, soon)
  const isLater = begins <= soon && draft.local_zone !== null && (draft.scheduled_at ?? 0) > soon
  if (isLater) {
    return 'You have a minute to take it back. After that it can be cancelled, and until the first recipient’s clock shows its time nothing leaves.'
  }
  const opens = draft.local_zone === null ? leavesAt(draft, soon) : begins
  // Its mails are made a little before its hours begin.
  const until = opens > begins ? Math.max(begins, opens - aheadMs) : begins
  return until > soon
    ? `You can take it back until ${exactWithZone(until, zone)}: nothing leaves before.`
    : 'You have a minute to take it back: nothing leaves before.'
}

/** What is said when somebody has sent it: nothing has left yet. */
function sentWords(sent: Broadcast, { soon, zone }: { soon: number; zone: string }): string {
  const { audience, scheduled_at: at, local_zone: local } = sent
  const to = counted(audience, 'person', 'people')
  if (at !== null && local !== null && at > soon) {
    const hours = paceOf(sent).window === null ? '' : ', or when its hours next begin'
    return `It is scheduled for ${to}, and leaves at ${exactIn(at, local)}, by each recipient’s own clock${hours}`
  }
  const begins = beginsAt(sent, soon)
  const opens = leavesAt(sent, soon)
  if (opens > begins) {
    const at = exactWithZone(opens, zone)
    return `It is scheduled for ${to}, and leaves when its hours begin, at ${at}: until a minute before it can be taken back`
  }
  return begins > soon
    ? `It is scheduled for ${to}, and leaves at ${exactWithZone(begins, zone)}`
    : `It leaves for ${to} in a minute: until then it can be taken back`
}

/** When people get a draft that is sent now, of which nothing leaves before `from` (ms). */
async function whenWords(
  read: Read,
  draft: Broadcast,
  { from, zone }: { from: number; zone: string },
): Promise<string> {
  const { scheduled_at: at, local_zone: local } = draft
  const own = await ownTimesOf(read, draft)
  if (own !== undefined && at !== null && local !== null) {
    const { first, last } = own.isAll ? own.span : own.bounds
    const words = (time: number) => exactWithZone(own.opens(Math.max(from, time)), zone)
    const { window } = paceOf(draft)
    const hours = window === null ? '' : ', or when its hours next begin'
    return `at ${localTime(at, local).slice(11)} by each recipient’s own clock${hours}: from ${words(first)} to ${words(last)}`
  }
  const begins = beginsAt(draft, from)
  const opens = leavesAt(draft, from)
  if (opens > begins)
    return `when its hours begin: the first mail leaves at ${exactWithZone(opens, zone)}`
  return begins > from ? `at ${exactWithZone(begins, zone)}` : 'a minute after you have sent it'
}

/** How many of its audience versions are tried on first; undefined: all get it then. */
async function testedFirst(
  read: Read,
  draft: Broadcast,
  people: number,
): Promise<string | undefined> {
  const { test } = await draftVersions(read, draft)
  if (draft.variant_test === null || test.share === 100) return undefined
  return counted(testSize(people, test), 'person', 'people')
}
