import { counted, shownCount } from '../../amounts/index.js'
import {
  type Broadcast,
  type BroadcastReport,
  broadcastReport,
  erasedLeftOut,
  findBroadcast,
  type MeasureDeps,
  neverSent,
  opensUnmeasured,
  reachedWords,
  ruleOfPeople,
  type Who,
  waitsForDecision,
  whoWords,
} from '../../broadcasts/index.js'
import type { GateOf } from '../../deliveries/index.js'
import { leaveWords } from '../../preferences/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import type { Chart } from '../shell/chart.js'
import { command } from '../shell/command-line.js'
import type { Html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import type { SameBy, Tone } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { isOnItsWay, sendingView } from './report-progress.js'
import { reportCharts } from './report-time.js'
import {
  numbersOf,
  peopleCell,
  type ReportNumber,
  reasonWords,
  share,
  shareKnown,
  standingChips,
} from './report-words.js'
import { sendingPart } from './sending-part.js'
import { subjectsSaid, type VersionsView, versionsView } from './versions.js'
import { waitsWords } from './waits.js'
import { whyWords } from './words.js'

/** What the pages about what became of campaigns need. */
export interface ReportPageDeps extends MeasureDeps {
  gateOf: GateOf
}

interface CampaignReportView {
  /** Where the rest was cancelled. */
  notSent: { says: string; again: string | undefined; segment: string | undefined } | undefined
  /** Where some of the audience got no mail when mails were made. */
  leftOut: { says: string; who: string } | undefined
  here: string
  campaign: string
  lead: string
  name: string
  chip: { text: string; tone: Tone }
  sent: Moment | undefined
  upToDate: boolean
  sending: Html | undefined
  /** Where a draft for those is made who have not opened it. */
  again: string | undefined
  /** That nobody knows who opened it, where that is so. */
  unmeasured: string | undefined
  numbers: ReportNumber[]
  charts: Chart[]
  links: {
    url: string
    href: string | undefined
    people: string
    clicks: string
    machines: string
    who: string
  }[]
  versions: VersionsView | undefined
  providers: { name: string; cells: (string | Html)[] }[]
  reasons: { says: string; words: string; kind: string; count: string; who: string }[]
  rest: string | undefined
  /** What is said where nobody is known whom it did not reach. */
  reached: string
  whyLeft: { says: string; said: string; who: string }[]
  compared: { name: string; href: string; here: boolean; sent: Moment; cells: string[] }[]
  others: { label: string; href: string }[]
  same: SameBy
}

// The rest is in the API's answer: a page stays below its bytes.
const mostRows = 10
// A name in a table of many columns.
const mostName = 60

/** What became of a campaign; while it is sent, how far it is and why it is slow. Throws a 404. */
export async function showReport(deps: ReportPageDeps, visit: Visit): Promise<PageAnswer> {
  const { account, base, now, params } = visit
  const { read } = deps.store
  const broadcast = await findBroadcast(read, account.id, params.id ?? '')
  const { id } = broadcast
  const report = await broadcastReport(deps, account.id, id)
  const here = `${base}/campaigns/${id}/report`
  const waits = waitsForDecision(broadcast)
  const at = { broadcast, base, now, waits, zone: visit.person.timeZone ?? 'UTC' }
  const long = [report.links, report.providers, report.reasons].some(
    ({ length }) => length > mostRows,
  )
  const waitsFor = waitsWords(broadcast, at)
  const { unmeasured } = report
  const isMeasured = unmeasured.opens === null
  const view: CampaignReportView = {
    here,
    campaign: `${base}/campaigns/${id}`,
    name: report.name ?? report.subject,
    lead: [
      ...(waitsFor === undefined || broadcast.recipients > 0 ? [mailsWords(broadcast)] : []),
      ...(waitsFor === undefined ? [] : [waitsFor]),
      ...(report.name === null && broadcast.variant_test === null
        ? []
        : [`“${await subjectsSaid(read, broadcast)}”`]),
    ].join(' · '),
    chip: standingChips[report.status],
    versions: await versionsView(deps, broadcast, visit),
    sent:
      report.sentAt === null
        ? undefined
        : moment(Date.parse(report.sentAt), now, visit.person.timeZone ?? undefined),
    upToDate: report.upToDate,
    sending: isOnItsWay(broadcast) ? sendingPart(await sendingView(deps, report, at)) : undefined,
    unmeasured:
      unmeasured.opens === null || broadcast.sent_at === null
        ? undefined
        : opensUnmeasured(unmeasured.opens),
    again:
      isMeasured &&
      visit.may('campaigns.write') &&
      visit.may('contacts.write') &&
      ruleOfPeople(broadcast, { who: 'not_opened' }) !== undefined
        ? `${here}/again`
        : undefined,
    numbers: numbersOf(report, { here, notSent: neverSent(broadcast) }),
    notSent: notSentPart(broadcast, visit, here),
    leftOut: leftOutPart(report, here, await erasedLeftOut(read, broadcast)),
    charts: reportCharts(report, visit.person.timeZone ?? 'UTC'),
    links: report.links.slice(0, mostRows).map((link) => linkRow(link, here)),
    providers: report.providers.slice(0, mostRows).map((one) => providerRow(one, here, unmeasured)),
    reasons: report.reasons.slice(0, mostRows).map((reason) => reasonRow(reason, here)),
    rest: long ? `The first ${mostRows} of each list; the API's answer has all` : undefined,
    reached: `${reachedWords(broadcast)}.`,
    whyLeft: report.whyLeft.map(({ reason, said }) => ({
      says: leaveWords[reason] ?? reason,
      said: shownCount(said),
      who: linkTo(`${here}/people`, { who: 'left', why: reason }),
    })),
    compared: comparedRows(report, base, now),
    others: (
      [
        ...(isMeasured ? (['not_opened'] as const) : []),
        ...(['not_clicked', 'bounced', 'failed', 'suppressed'] as const),
        // Those whose mail was made and cancelled are some of those to whom it never went out.
        neverSent(broadcast) > 0 ? 'not_sent' : 'cancelled',
      ] as const
    ).map((who) => ({ label: whoWords[who].label, href: linkTo(`${here}/people`, { who }) })),
    same: {
      api: [
        call(api.broadcasts.getBroadcastReport, { of: { id } }),
        call(api.broadcasts.listBroadcastRecipients, {
          of: { id },
          query: { who: 'opened' },
        }),
      ],
      cli: [command('broadcast report', { of: [id] })],
    },
  }
  return page('campaigns/report', view, { title: `Report: ${view.name}`, wide: true })
}

/** How many mails it has, or went out of it before its rest was cancelled. */
function mailsWords(broadcast: Broadcast): string {
  const { recipients, audience, cancelled } = broadcast
  if (neverSent(broadcast) === 0) return counted(recipients, 'mail')
  const all = Math.max(audience, recipients)
  return `It went out to ${shownCount(recipients - cancelled)} of ${counted(all, 'person', 'people')}`
}

/** Of one whose rest was cancelled: how many it never went out to, and what sends it to them. */
function notSentPart(
  broadcast: Broadcast,
  visit: Visit,
  here: string,
): CampaignReportView['notSent'] {
  const count = neverSent(broadcast)
  if (count === 0) return undefined
  const mayDo =
    visit.may('campaigns.write') &&
    visit.may('contacts.write') &&
    ruleOfPeople(broadcast, { who: 'not_sent' }) !== undefined
  return {
    says: `The rest was cancelled before it went out to ${counted(count, 'person', 'people')}.`,
    again: mayDo ? `${here}/again` : undefined,
    segment: mayDo ? `${here}/segment` : undefined,
  }
}

/** Who of its audience got no mail when mails were made. */
function leftOutPart(
  { leftOut }: Pick<BroadcastReport, 'leftOut'>,
  here: string,
  erased: number | undefined,
): CampaignReportView['leftOut'] {
  const all = Object.values(leftOut).reduce((sum, count) => sum + count, 0)
  if (all === 0) return undefined
  const says = `${counted(all, 'person', 'people')} of its audience got no mail when its mails were made: ${whyWords({ ...leftOut, ...(erased !== undefined && { erased }) }).join(', ')}.`
  return { says, who: linkTo(`${here}/people`, { who: 'left_out' }) }
}

const linkRow = (link: BroadcastReport['links'][number], here: string) => ({
  url: link.url === '*' ? 'All other links' : link.url,
  people: shownCount(link.people),
  clicks: shownCount(link.clicked),
  machines: shownCount(link.clickedByMachines),
  who: linkTo(`${here}/people`, { who: 'clicked', link: String(link.number) }),
  href: undefined,
})

function providerRow(
  one: BroadcastReport['providers'][number],
  here: string,
  unmeasured: BroadcastReport['unmeasured'],
) {
  const { provider } = one
  const people = (who: Who, text: string) =>
    peopleCell(text, linkTo(`${here}/people`, { who, provider }))
  return {
    name: provider === '*' ? 'All others' : provider,
    cells: [
      people('delivered', shownCount(one.delivered + one.relayed)),
      share(one.rates.delivery),
      people('bounced', shownCount(one.bouncedHard + one.bouncedSoft)),
      shownCount(one.deferred),
      unmeasured.opens === null ? people('opened', share(one.rates.open)) : '–',
      unmeasured.clicks === null ? people('clicked', share(one.rates.click)) : '–',
      people('complained', shownCount(one.complained + one.complainedUnproved)),
    ],
  }
}

const reasonRow = (one: BroadcastReport['reasons'][number], here: string) => ({
  says: reasonWords(one.class),
  words: one.words,
  kind: whoWords[one.kind].label,
  count: shownCount(one.count),
  who: linkTo(`${here}/people`, { who: 'unreached', reason: String(one.number) }),
})

/** This one and the ten before it, side by side. */
function comparedRows(report: BroadcastReport, base: string, now: number) {
  if (report.compared.length === 0) return []
  const own = { ...report, recipients: report.progress.recipients, rates: report.total.rates }
  return [own, ...report.compared].map((one) => ({
    name: shortened(one.name ?? one.subject),
    href: `${base}/campaigns/${one.id}/report`,
    here: one.id === report.id,
    sent: moment(Date.parse(one.sentAt ?? ''), now),
    cells: [
      shownCount(one.recipients),
      share(one.rates.delivery),
      shareKnown(one.rates.open, one.unmeasured.opens),
      shareKnown(one.rates.click, one.unmeasured.clicks),
      ...[one.rates.unsubscribe, one.rates.complaint, one.rates.bounce].map(share),
    ],
  }))
}

const shortened = (name: string) => (name.length > mostName ? `${name.slice(0, mostName)}…` : name)
