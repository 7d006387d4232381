import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { dayMs } from '../clock/index.js'
import { settingName } from '../config/index.js'
import { type Outlook, readOutlook } from '../retention/index.js'
import { withStore } from './database.js'
import { jsonTime, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import { placeOf, settingsOf } from './place.js'
import { plansOf } from './plan.js'

/** `posthorn retention`: looks ahead at what the job of the same name will delete. */
export function retentionCommand(program: Command): void {
  program
    .command('retention')
    .description('what is kept for how long, and what goes next; nothing is deleted by this')
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn retention
  $ posthorn retention --json | jq .accounts
  $ posthorn job run retention              delete now what is too old

The log of an account is kept as long as its plan says (retention_days in plans.toml), all else by [retention].
What waits is never deleted, however old: of the mails that are counted here those stay.`,
    )
    .action(async (_options, command: Command) => {
      const place = placeOf(command)
      const ages = settingsOf(place).retention
      const plans = plansOf(place)
      const { dataDir } = place
      const outlook = await withStore(place, ({ store, clock }) =>
        readOutlook(store.read, { plans, ages, dataDir, now: clock.now() }),
      )
      if (place.json) sayJson(inJson(outlook))
      else show(outlook)
    })
}

const { floor } = Math

/** The settings that are ages; the others are shares and counts. */
const ageNames = [
  'bodies',
  'transcripts',
  'sessions',
  'inbound',
  'usageDays',
  'figures',
  'consent',
  'audit',
]
/** The values of these settings, in ms. */
const agesOf = ({ ages }: Outlook) =>
  Object.entries(ages).filter(([name]) => ageNames.includes(name))

/** For scripts; an age without an end is 'forever', as JSON has no infinity. */
function inJson(outlook: Outlook) {
  const ages = agesOf(outlook).map(([name, ms]) => [name, Number.isFinite(ms) ? ms : 'forever'])
  const { diskShare, bodiesAtLeast } = outlook.ages
  const ranAt = jsonTime(outlook.ranAt)
  return { ...outlook, ranAt, ages: { ...Object.fromEntries(ages), diskShare, bodiesAtLeast } }
}

/** For people: accounts, ages, room on the disk. */
function show(outlook: Outlook): void {
  const { file, disk, waiting } = outlook
  sayTable(
    ['ACCOUNT', 'KEEPS', 'MAILS', 'GO NEXT'],
    outlook.accounts.map((one) => [
      one.name,
      counted(one.retentionDays, 'day'),
      `${one.mails}`,
      `${one.oldMails}`,
    ]),
    'No account has mail',
  )
  say()
  sayTable(
    ['KEPT', 'FOR', 'GO NEXT'],
    agesOf(outlook).map(([name, ms]) => [
      settingName([name]),
      shownAge(ms),
      name === 'bodies'
        ? `those of ${counted(outlook.oldBodies, 'mail')}, without those that wait (${waiting.bodies} so far)`
        : name === 'transcripts'
          ? `those of ${counted(outlook.oldTranscripts, 'mail')}, without those that wait (${waiting.transcripts} so far)`
          : '',
    ]),
    '',
  )
  say()
  // Free pages of the database count as free: new mail goes there first.
  const used = floor(((disk.totalBytes - disk.freeBytes - file.freeBytes) / disk.totalBytes) * 100)
  sayFields({
    'Last run': outlook.ranAt === null ? 'none yet' : shownTime(outlook.ranAt),
    Database: `${mib(file.bytes)} MiB, of which ${mib(file.freeBytes)} are free for what comes next`,
    Disk: `${used}% in use; above ${outlook.ages.diskShare / 10_000}% the oldest bodies go`,
  })
}

/** Rounded down, so that free space is never shown larger than it is. */
const mib = (bytes: number) => floor(bytes / 1_048_576)

/** An age in days, or in seconds if a test made it short. */
function shownAge(ms: number): string {
  if (!Number.isFinite(ms)) return 'ever'
  return ms >= dayMs ? `${floor(ms / dayMs)} days` : `${floor(ms / 1_000)} s`
}
