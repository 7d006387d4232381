import { archivePathOf } from '../../accounts/index.js'
import { counted } from '../../amounts/index.js'
import { lastDeed } from '../../audit/index.js'
import { stoppedForClient } from '../../billing/index.js'
import {
  type Broadcast,
  broadcastReport,
  broadcastStanding,
  goneWords,
  neverSent,
  pausedByAccount,
  publicReason,
  unmeasuredOf,
  waitsForDecision,
} from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import type { Read } from '../../store/index.js'
import { exactWithZone, type Moment, moment, timesIn } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'
import { audienceNames } from './list.js'
import { isPaceWrong, paceFieldsOf, paceWords } from './pace-part.js'
import { isOnItsWay, sendingView } from './report-progress.js'
import { sendingPart } from './sending-part.js'
import { restOf, subjectsSaid, type VersionsView, versionsView } from './versions.js'
import { leavesAt, waitsWords } from './waits.js'
import {
  campaignName,
  chipOf,
  countsOf,
  countWords,
  shown,
  waitsForFirstClock,
  whomWords,
} from './words.js'

interface CampaignView {
  base: string
  id: string
  page: string
  name: string
  chip: { text: string; tone: Tone }
  reason: string | undefined
  /** Which list or segment is gone that it was to go to, and what to do. */
  gone: string | undefined
  subject: string
  from: string
  to: string
  counted: string
  leaves: string | undefined
  /** How fast, and in which hours; undefined: as any other. */
  pace: string | undefined
  /** Its fields, where they can be changed. */
  paceFields: Html | undefined
  /** Something is wrong with what was typed there. */
  isPaceWrong: boolean
  begun: Moment | undefined
  /** Undefined: nothing of it has left. */
  report: string | undefined
  sending: Html | undefined
  figures: { label: string; value: string }[]
  versions: VersionsView | undefined
  /** How many get the version that is chosen, in words. */
  rest: string
  faults: Faults
  archive: {
    /** Where everybody sees it; undefined: nowhere. */
    url: string | undefined
    isIn: boolean
    mayChange: boolean
  }
  /** What can be done now. */
  deeds: {
    takeBack: boolean
    pause: boolean
    resume: boolean
    duplicate: boolean
    cancel: boolean
    cancelRest: boolean
  }
}

/** A campaign that is no draft: how far it is, and what can be done about it. */
export async function campaignPage(
  deps: CampaignPageDeps,
  visit: Visit,
  found: Broadcast,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, now, person } = visit
  const { read } = deps.store
  const stop = (await stoppedForClient(read, account.id, 'marketing')) ?? null
  const { status, reason } = broadcastStanding(found, stop, now)
  const mayWrite = visit.may('campaigns.write')
  const waits =
    found.status === 'scheduled' || (found.status === 'paused' && found.sent_at === null)
  const zone = person.timeZone ?? 'UTC'
  const isToCome = waitsForFirstClock(found)
  const at = found.scheduled_at
  const isOver = found.status === 'sent' || found.status === 'cancelled' || found.expanded === 1
  const mayPace = mayWrite && found.status !== 'failed' && !isOver
  const isToBeMade = waits || (isOnItsWay(found) && found.expanded === 0)
  const gone = isToBeMade ? await goneWords(read, found) : undefined
  const unmeasured = await unmeasuredOf(deps, found)
  const known = (why: string | null, count: number) =>
    why === null ? shown(count) : `Not measured: ${why}`
  const view: CampaignView = {
    base,
    id: found.id,
    page: `${base}/campaigns/${found.id}`,
    name: campaignName(found),
    chip: chipOf(Object.assign({}, found, { status })),
    reason:
      (await pausedWords(read, found, { status, now, person, zone })) ??
      // Of a stopped account it says that, whatever the campaign itself waits for.
      (status === found.status ? waitsWords(found, { now, zone }) : undefined) ??
      timesIn(publicReason(found, reason) ?? '', zone),
    gone:
      gone &&
      `${gone}. ${waits ? 'It goes to nobody: take it back to choose another audience.' : 'No more mails are made: cancel the rest.'}`,
    subject: await subjectsSaid(read, found),
    from: found.from_header,
    to: whomWords(found, await audienceNames(read, account.id, [found])),
    counted: gone !== undefined && waits ? 'Nobody, as it stands.' : countWords(countsOf(found)),
    leaves: (waits || isToCome) && at !== null ? leavesAt(found, at, zone) : undefined,
    pace: paceWords(found),
    paceFields: mayPace ? paceFieldsOf(found, { zone, faults }) : undefined,
    isPaceWrong: isPaceWrong(faults),
    begun: found.sent_at === null || isToCome ? undefined : moment(found.sent_at, now),
    report: found.sent_at === null || isToCome ? undefined : `${base}/campaigns/${found.id}/report`,
    sending: isOnItsWay(found) ? await progressOf(deps, visit, found) : undefined,
    versions: await versionsView(deps, found, visit),
    rest: counted(restOf(found), 'person', 'people'),
    faults,
    archive: await archiveView(deps, found, mayWrite),
    figures: [
      { label: 'Mails made', value: shown(found.recipients) },
      { label: 'On their way', value: shown(found.waiting) },
      { label: 'Delivered', value: shown(found.delivered + found.relayed) },
      { label: 'Bounced', value: shown(found.bounced) },
      ...someOf([
        { label: 'Given up', count: found.failed },
        { label: 'Left out', count: found.suppressed },
        { label: 'Cancelled', count: found.cancelled },
        // Those of whom no mail was made, as those above are of mails that were.
        { label: 'Never made', count: Math.max(0, neverSent(found) - found.cancelled) },
      ]),
      { label: 'Opened by people', value: known(unmeasured.opens, found.opened) },
      { label: 'Clicked by people', value: known(unmeasured.clicks, found.clicked) },
    ],
    deeds: {
      takeBack: mayWrite && waits,
      pause: mayWrite && (found.status === 'sending' || found.status === 'scheduled'),
      resume: mayWrite && found.status === 'paused' && found.paused_by === 'account',
      duplicate: mayWrite,
      cancel: mayWrite && waits,
      cancelRest: mayWrite && !waits && (found.status === 'sending' || found.status === 'paused'),
    },
  }
  return page('campaigns/one', view, { title: view.name })
}

const someOf = (figures: readonly { label: string; count: number }[]) =>
  figures
    .filter(({ count }) => count > 0)
    .map(({ label, count }) => ({ label, value: shown(count) }))

/** That somebody of the account has paused it, and when; undefined: it is not paused, or for another reason. */
async function pausedWords(
  read: Read,
  { account_id: accountId, id, paused_by, reason }: Broadcast,
  { status, now, person, zone }: Pick<Visit, 'now' | 'person'> & { status: string; zone: string },
): Promise<string | undefined> {
  if (status !== 'paused' || paused_by !== 'account' || reason !== pausedByAccount) return undefined
  const row = await lastDeed(read, accountId, { action: 'broadcast.pause', target: id })
  if (row === undefined) return 'Somebody of the account paused it.'
  const who =
    row.userId === person.id ? 'You' : `${row.who.charAt(0).toUpperCase()}${row.who.slice(1)}`
  const isToday = localTime(row.at, zone).slice(0, 10) === localTime(now, zone).slice(0, 10)
  const at = isToday ? localTime(row.at, zone).slice(11, 16) : exactWithZone(row.at, zone)
  return `${who} paused it at ${at}.`
}

async function archiveView(
  { store, publicUrl }: CampaignPageDeps,
  { account_id: accountId, id, archive, status }: Broadcast,
  mayWrite: boolean,
): Promise<CampaignView['archive']> {
  const isIn = archive === 1
  const isShown = isIn && (status === 'sending' || status === 'sent')
  const path = isShown ? await archivePathOf(store.read, accountId) : null
  const isOver = status === 'cancelled' || status === 'failed'
  const url = path === null ? undefined : `${publicUrl}${path}/${id}`
  return { url, isIn, mayChange: mayWrite && !isOver }
}

async function progressOf(
  deps: CampaignPageDeps,
  { account, base, now, person }: Visit,
  found: Broadcast,
): Promise<Html> {
  const waits = waitsForDecision(found)
  const report = await broadcastReport(deps, account.id, found.id)
  const zone = person.timeZone ?? 'UTC'
  return sendingPart(await sendingView(deps, report, { broadcast: found, base, now, waits, zone }))
}
