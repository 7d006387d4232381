import type { Command } from 'commander'
import { shownBytes, shownCount } from '../amounts/index.js'
import { listenerCertificates } from '../app/certificates.js'
import { dayMs, shownFor, systemClock } from '../clock/index.js'
import { nodeNameOf, packageVersion } from '../config/index.js'
import {
  type ApplianceStatus,
  type MailFlow,
  readStatus,
  statusWithout,
  type TroubledSite,
} from '../doctor/index.js'
import { findBrokenUpgrade } from '../release/index.js'
import { askAppliance, overviewMs } from './ask.js'
import { isAway } from './away.js'
import { withStore } from './database.js'
import { failureOf } from './failure.js'
import { askOthers, type NodeBeside, othersInJson, sayOthers } from './other-nodes.js'
import { jsonTime, say, sayJson, sayTable, shownTime, styled, visibleLine } from './output.js'
import { placeOf, settingsOf } from './place.js'

// systemctl's status 3 means the same: the program does not run.
const notRunning = 3

/** `posthorn status`: the running appliance's view, or without one the database's. */
export function statusCommand(program: Command): void {
  program
    .command('status')
    .description(
      'how the appliance is, on one screen; status 1 when something is urgent, 3 when it does not run',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn status
  $ posthorn status --json | jq -r '.troubles[] | select(.burning) | .fix'
  $ watch -n 10 posthorn status

Exit status: 0 all is well, or nothing is urgent; 1 something is urgent (marked with !); 3 no appliance runs on this
data directory, and what is shown is what the database knows. Rates are of the running appliance, which
begins to count when it starts. 'posthorn top' shows what goes on, 'posthorn doctor' asks the world.`,
    )
    .action(async (_options, command: Command) => {
      const place = placeOf(command)
      const config = settingsOf(place)
      const overview = (await askAppliance(place, { overview: true }, overviewMs))?.overview
      const { dataDir } = place
      const certificates = listenerCertificates(config)
      const about = { config, dataDir, certificates, brokenUpgrade: findBrokenUpgrade(dataDir) }
      const { status, others } = await withStore(place, async ({ store: { read }, clock }) => ({
        status: await readStatus({ ...about, read, now: clock.now() }, overview),
        others: await askOthers(place, { read, own: nodeNameOf(config.node) }),
      })).catch(async (error: unknown) => {
        if (!(await isAway(place, error))) throw error
        const { message: text, advice: fix = '' } = failureOf(error)
        const now = systemClock.now()
        const status = await statusWithout({ ...about, now }, overview, { text, fix })
        return { status, others: [] }
      })
      const burns = status.troubles.some(({ burning }) => burning)
      process.exitCode = overview === undefined ? notRunning : burns ? 1 : 0
      if (place.json) sayJson({ ...inJson(status), nodes: othersInJson(others) })
      else show(status, others)
    })
}

/** Troubles come last, as a terminal shows the end of what was printed. */
function show(status: ApplianceStatus, others: readonly NodeBeside[]): void {
  const { overview, now, classes, sites, troubles } = status
  sayHead(status)
  if (overview?.rates) {
    const { hour, day } = overview.rates
    // Within the first hour both spans are the same.
    const rows = (day.ms > hour.ms ? [hour, day] : [hour]).map(flowRow)
    say()
    sayTable(['IN THE LAST', 'ACCEPTED', 'DELIVERED', 'PUT OFF', 'BOUNCED'], rows, '')
  }
  if (classes.length > 0) {
    say()
    sayTable(
      ['QUEUE', 'WAITING', 'OLDEST', 'LONGEST DUE'],
      classes.map(({ name, waiting, oldestMs, dueMs }) => [
        name,
        waiting,
        ...[oldestMs, dueMs].map((ms) => (ms === null ? '-' : shownFor(ms))),
      ]),
      '',
    )
  }
  if (sites.length > 0) {
    say()
    const row = ({ site, gate, until, why }: TroubledSite) => [
      site,
      gate,
      until === null ? '-' : shownFor(until - now),
      why.slice(0, 90),
    ]
    sayTable(['SITE IN TROUBLE', 'GATE', 'FOR', 'WHY'], sites.map(row), '')
  }
  if (others.length > 0) say()
  sayOthers(others)
  say()
  sayFacts(status)
  say()
  if (troubles.length === 0 && overview !== undefined) say(styled('green', 'Nothing is wrong.'))
  for (const { burning, text, fix } of troubles) {
    say(`${burning ? styled('red', '!') : styled('yellow', '-')} ${visibleLine(text)}`)
    say(`    ${visibleLine(fix)}`)
  }
}

/** The first lines: does it run, since when, and where. */
function sayHead({ overview, aliveAt, now }: ApplianceStatus): void {
  if (overview === undefined) {
    say(styled('red', `Posthorn ${packageVersion()} does not run on this data directory.`))
    say(
      `    systemctl start posthorn, or posthorn serve; journalctl -u posthorn -n 50 says why it ended`,
    )
    if (aliveAt > 0) say(`It last wrote at ${shownTime(aliveAt)}.`)
    return
  }
  const { version, startedAt, unhealthy, unready, listeners } = overview
  const up = `up for ${shownFor(now - startedAt)}, since ${shownTime(startedAt)}`
  const health =
    [...unhealthy, ...unready].length === 0 ? styled('green', 'healthy, takes mail') : ''
  say(`${styled('bold', `Posthorn ${version}`)}  ${up}  ${health}`.trimEnd())
  say(listeners.map(({ name, at }) => `${name} ${at}`).join('   '))
}

/** Counts of one span of time. */
function flowRow({ ms, accepted, delivered, deferred, bounced }: MailFlow): string[] {
  return [shownFor(ms), ...[accepted, delivered, deferred, bounced].map((n) => shownCount(n))]
}

/** Disk, held mail, backup, certificates: the things that go wrong slowly. */
function sayFacts({ disk, held, backupAt, certificates, warmUp, now }: ApplianceStatus): void {
  const room = `${shownBytes(disk.freeBytes)} of ${shownBytes(disk.sizeBytes)} free`
  say(`Disk          ${room}${fullIn(disk.daysLeft)}`)
  say(`Held mail     ${held}`)
  for (const { address, says } of warmUp) say(`Warm-up       ${address}, ${says}`)
  say(
    `Last backup   ${backupAt === null ? "none: see 'posthorn job show backup'" : `${shownFor(now - backupAt)} ago`}`,
  )
  const ends = certificates.map(({ name, endsAt }) =>
    endsAt > now ? `${name}: ${shownFor(endsAt - now)} left` : `${name}: has ended`,
  )
  say(`Certificates  ${ends.join(', ') || 'none of the listeners'}`)
}

/** A forecast beyond ten years means nothing. */
function fullIn(days: number | null): string {
  if (days === null) return ''
  return days > 3_650
    ? ', full in more than ten years'
    : `, full in ${shownFor(days * dayMs)} at this rate`
}

/** `ok` is one field to look at for a monitor that knows nothing else. */
function inJson(status: ApplianceStatus) {
  const { overview, now, aliveAt, classes, sites, held, backupAt, certificates, troubles, disk } =
    status
  return {
    running: overview !== undefined,
    ok: overview !== undefined && !troubles.some(({ burning }) => burning),
    version: overview?.version ?? packageVersion(),
    now: jsonTime(now),
    startedAt: jsonTime(overview?.startedAt ?? null),
    lastWriteAt: jsonTime(aliveAt || null),
    listeners: overview?.listeners ?? [],
    unhealthy: overview?.unhealthy ?? [],
    unready: overview?.unready ?? [],
    rates: overview?.rates ?? null,
    queue: classes,
    sites: sites.map(({ until, ...site }) => ({ ...site, until: jsonTime(until) })),
    held,
    disk,
    backupAt: jsonTime(backupAt),
    certificates: certificates.map(({ name, endsAt }) => ({ name, endsAt: jsonTime(endsAt) })),
    warmUp: status.warmUp,
    troubles: troubles.map(({ burning, text, fix }) => ({ burning, text, fix })),
  }
}
