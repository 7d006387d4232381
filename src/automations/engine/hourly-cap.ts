import { hourMs, isRecent } from '../../clock/index.js'
import { idsOf, prepared, preparedInsertAll, type Read, type Tx } from '../../store/index.js'
import type { FrozenVersion } from '../definition/index.js'

/** How many mails may still be made; where that is none, until when. */
export interface Quota {
  left: number
  until: number
}

// Mails are counted by the minute: 60 numbers an automation, in place of a row for each mail.
const minuteMs = 60_000

/** The caps of a batch's versions, by automation and version. */
export type HourlyCaps = ReadonlyMap<string, ReadonlyMap<number, Quota>>

/**
 * What automations with `maxPerHour` may still make, so that no 60 minutes see more. Mails are counted by the minute,
 * and those of a minute count until its last mail is an hour old. An automation's mails are counted together, and each
 * version keeps to its own limit.
 */
export async function capsOf(
  read: Read,
  versions: readonly FrozenVersion[],
  now: number,
): Promise<HourlyCaps> {
  const caps = new Map<string, Map<number, Quota>>()
  for (const { automationId, version, compiled } of versions) {
    const { maxPerHour } = compiled.settings
    if (maxPerHour === undefined) continue
    const made = await madeSince(read, {
      automationId,
      from: minuteOf(now - hourMs),
      until: now + hourMs,
    })
    const counted = made.filter(({ lastAt }) => isRecent(lastAt, now, hourMs))
    const sum = counted.reduce((mails, minute) => mails + minute.mails, 0)
    const ofAutomation = caps.get(automationId) ?? new Map<number, Quota>()
    caps.set(automationId, ofAutomation)
    ofAutomation.set(version, {
      left: maxPerHour - sum,
      until: (counted[0]?.lastAt ?? now) + hourMs,
    })
  }
  return caps
}

/** What a version's next mail needs room in, and what it uses up; nothing where the version has no limit. */
export function capOf(caps: HourlyCaps, { automationId, version }: FrozenVersion) {
  const ofAutomation = caps.get(automationId)
  const own = ofAutomation?.get(version)
  return own && { own, uses: [...(ofAutomation?.values() ?? [])] }
}

/** The number of the minute since 1970. */
const minuteOf = (at: number) => Math.floor(at / minuteMs)

/** The minutes in which an automation has made mails, the oldest first. */
const madeSince = prepared<
  { automationId: string; from: number; until: number },
  { mails: number; lastAt: number }
>((db, { automationId, from, until }) =>
  db
    .selectFrom('automation_hours')
    .select(['mails', 'last_at as lastAt'])
    .where('automation_id', '=', automationId)
    .where('minute', '>=', from)
    // Mails of the coming hour were made before the clock was set back. Mails further ahead must not stop an automation
    // until their time.
    .where('last_at', '<=', until)
    .orderBy('minute'),
)

/** Counts mails that automations with `maxPerHour` have made: rows of automation and number. */
export async function countHourly(tx: Tx, made: readonly [string, number][], now: number) {
  const ids = JSON.stringify(made.map(([id]) => id))
  await forgetOlder(tx, { ids, before: minuteOf(now - hourMs) })
  await addMails(
    tx,
    made.map(([automation_id, mails]) => ({
      automation_id,
      minute: minuteOf(now),
      mails,
      last_at: now,
    })),
  )
}

/** Nobody asks about more than the last hour. */
const forgetOlder = prepared<{ ids: string; before: number }, unknown>((db, { ids, before }) =>
  db
    .deleteFrom('automation_hours')
    .where('automation_id', 'in', idsOf(ids, 'text'))
    .where('minute', '<', before),
)

const addMails = preparedInsertAll('automation_hours', (insert) =>
  insert.onConflict((conflict) =>
    conflict.columns(['automation_id', 'minute']).doUpdateSet((eb) => ({
      mails: eb('automation_hours.mails', '+', eb.ref('excluded.mails')),
      last_at: eb.ref('excluded.last_at'),
    })),
  ),
)
