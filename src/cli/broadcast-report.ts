import { counted, shownCount } from '../amounts/index.js'
import * as operations from '../broadcasts/contract.js'
import {
  type Broadcast,
  type BroadcastReport,
  broadcastReport,
  chosenWords,
  reachedWords,
} from '../broadcasts/index.js'
import { leaveWords } from '../preferences/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { measuring } from './broadcast-measured.js'
import { chosenBroadcast } from './broadcast-show.js'
import type { CommandRow } from './command-row.js'
import { remark, say, sayFields, sayTable } from './output.js'
import { oneLine } from './queue-show.js'

/** `broadcast report`. */
export const reportBroadcastRows: readonly CommandRow[] = [
  {
    usage: 'report <id>',
    does: operations.getBroadcastReport,
    about:
      'show what people did with a campaign, by link and provider, and why mail did not arrive',
    help: 'Example:\n  $ posthorn broadcast report 01a1fc92-9915-7533-8296-04ee3d91dd72',
    run: answeringWith(measuring, show),
  },
]

// Rows shown of links, providers and reasons; --json has the rest.
const mostShown = 15
const mostWords = 80

async function show({ store, tracking }: CommandDeps & ReturnType<typeof measuring>, id: string) {
  const broadcast = await chosenBroadcast(store.read, id)
  const report = await broadcastReport({ store, tracking }, broadcast.account_id, id)
  return { json: report, say: () => sayReport(report, broadcast) }
}

function sayReport(report: BroadcastReport, broadcast: Broadcast): void {
  sayFields(totalsOf(report))
  if (!report.upToDate) remark('The log of before the update is still being counted')
  const part = (rows: string[][]) => rows.slice(0, mostShown)
  if (report.variantTest !== null) sayVersions(report, broadcast)
  say()
  sayTable(
    ['LINK', 'PEOPLE', 'CLICKS', 'BY MACHINES'],
    part(
      report.links.map(({ url, people, clicked, clickedByMachines }) => [
        oneLine(url).slice(0, mostWords),
        ...[people, clicked, clickedByMachines].map(shownCount),
      ]),
    ),
    'Nobody clicked a link so far',
  )
  say()
  sayTable(
    ['PROVIDER', 'ARRIVED', 'BOUNCED', 'PUT OFF', 'OPENED', 'CLICKED'],
    part(
      report.providers.map((one) => [
        one.provider,
        ...[one.delivered + one.relayed, one.bouncedHard + one.bouncedSoft, one.deferred].map(
          shownCount,
        ),
        measured(report.unmeasured.opens, one.openedUnique),
        measured(report.unmeasured.clicks, one.clickedUnique),
      ]),
    ),
    'No server has answered so far',
  )
  say()
  sayTable(
    ['NOT REACHED', 'MAILS', 'CLASS', 'WORDS'],
    part(
      report.reasons.map((one) => [
        one.kind,
        shownCount(one.count),
        one.class,
        oneLine(one.words).slice(0, mostWords),
      ]),
    ),
    reachedWords(broadcast),
  )
  if (report.whyLeft.length === 0) return
  say()
  sayTable(
    ['LEFT BECAUSE', 'PEOPLE'],
    report.whyLeft.map(({ reason, said }) => [leaveWords[reason] ?? reason, shownCount(said)]),
    'Nobody said why they left',
  )
}

/**
 * The test, which tells the versions apart, and what the rest of the recipients did with the chosen
 * version.
 */
function sayVersions(
  { variants, variantTest, unmeasured, chosenWho }: BroadcastReport,
  broadcast: Broadcast,
): void {
  const counts = (of: Omit<BroadcastReport['variants'][number]['test'], 'compared'>) => [
    ...[of.recipients, of.delivered].map(shownCount),
    measured(unmeasured.opens, of.opened),
    measured(unmeasured.clicks, of.clicked),
  ]
  const isKnown = variants.some(({ test: { compared } }) => compared.did > 0)
  const columns = ['MAILS', 'ARRIVED', 'OPENED', 'CLICKED']
  say()
  sayTable(
    [
      'TESTED VERSION',
      ...columns,
      variantTest?.by === 'opens' ? 'PEOPLE WHO OPENED' : 'PEOPLE WHO CLICKED',
      'CHANCE TO BE BEST',
    ],
    variants.map(({ key, test, chance }) => [
      key === variantTest?.chosen ? `${key} (chosen)` : key,
      ...counts(test),
      `${shownCount(test.compared.did)} of ${shownCount(test.compared.of)}`,
      // Before anybody acted, the figure would only show which version went to fewer recipients.
      isKnown ? `${Math.round(chance * 100)} %` : 'not known yet',
    ]),
    'No version',
  )
  if (variantTest?.chosen) {
    say(`Version ${variantTest.chosen}: ${chosenWords(broadcast, chosenWho)}`)
  }
  const rests = variants.flatMap(({ key, rest }) => (rest === null ? [] : [[key, ...counts(rest)]]))
  if (rests.length === 0) return
  say()
  sayTable(['THE REST GOT', ...columns], rests, '')
}

/** A number, or why nobody knows it. */
const measured = (why: string | null, count: number) => (why === null ? shownCount(count) : '-')

function totalsOf(report: BroadcastReport) {
  const { subject, sentAt, status, progress, total, unmeasured, leftOut } = report
  const { rates } = total
  const share = (count: number, rate: number | null) =>
    `${shownCount(count)}${rate === null ? '' : ` (${(rate * 100).toFixed(1)} %)`}`
  const machines = (count: number) => `, and ${counted(count, 'time')} by machines`
  return {
    Subject: subject,
    Status: status,
    Sent: sentAt ?? '-',
    Mails: shownCount(progress.recipients),
    Delivered: share(total.delivered + total.relayed, rates.delivery),
    Opened:
      unmeasured.opens === null
        ? share(total.openedUnique, rates.open) + machines(total.openedByMachines)
        : `not measured: ${unmeasured.opens}`,
    Clicked:
      unmeasured.clicks === null
        ? share(total.clickedUnique, rates.click) + machines(total.clickedByMachines)
        : `not measured: ${unmeasured.clicks}`,
    Left: share(total.unsubscribed, rates.unsubscribe),
    Complained: share(total.complained, rates.complaint),
    Bounced: share(total.bouncedHard + total.bouncedSoft, rates.bounce),
    'Given up': shownCount(total.failed),
    'Left out': shownCount(total.suppressed),
    'Left out when mails were made': shownCount(
      Object.values(leftOut).reduce((sum, count) => sum + count, 0),
    ),
  }
}
