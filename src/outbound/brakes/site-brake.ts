import { notice, settled } from '../../notices/index.js'
import type { Read, SiteBrakeRow, Tx } from '../../store/index.js'
import type { Policy } from '../shaping/index.js'
import { type Brake, brakeInWords, nextBrake, type Over } from './next-brake.js'

/** A site as seen from a pool (`source`), by the pool's name; an empty one means all pools. */
export type BrakedSite = Pick<SiteBrakeRow, 'site' | 'source'>

// An appliance with so many brakes has another trouble than a provider.
const mostOpen = 1_000

/** The brakes that are on. */
export const openBrakes = (read: Read): Promise<SiteBrakeRow[]> =>
  read
    .selectFrom('site_brakes')
    .selectAll()
    .orderBy('site')
    .orderBy('source')
    .limit(mostOpen)
    .execute()

/** What a thread has seen at a site since a state of the brake there began (`since`; undefined: none was on). */
export interface SeenAtSite extends BrakedSite {
  since: number | undefined
  over: Over | undefined
  policy: Pick<Policy, 'brakeStepMinutes' | 'brakeWaitMinutes'>
}

/**
 * Takes a brake a step further, and tells the operator. Does nothing where another thread has done so since this one
 * looked: what this one has seen was in the state before.
 */
export async function moveBrake(tx: Tx, seen: SeenAtSite, now: number): Promise<void> {
  const { site, source, since, over, policy } = seen
  const before = await tx
    .selectFrom('site_brakes')
    .selectAll()
    .where('site', '=', site)
    .where('source', '=', source)
    .executeTakeFirst()
  if (before?.since !== since) return
  const next = nextBrake(before, over, policy, now)
  if (next === before) return
  if (next === undefined) await endOf(tx, { site, source }, now)
  else await keep(tx, { site, source }, next, now)
}

/** Ends the brakes of a site at an operator's word; resolves with the brakes that were on. */
export async function endBrakes(tx: Tx, site: string, now: number): Promise<SiteBrakeRow[]> {
  const on = await tx.selectFrom('site_brakes').selectAll().where('site', '=', site).execute()
  for (const one of on) await endOf(tx, one, now)
  return on
}

async function endOf(tx: Tx, { site, source }: BrakedSite, now: number): Promise<void> {
  await tx.deleteFrom('site_brakes').where('site', '=', site).where('source', '=', source).execute()
  await settled(tx, { kind: 'brake', key: noticeKey({ site, source }), now })
}

async function keep(tx: Tx, at: BrakedSite, next: Brake, now: number): Promise<void> {
  const { site, source } = at
  const { percent, began_at, since, until, waits, per_minute, step_ms, wait_ms, cause, why } = next
  const values = {
    percent,
    began_at,
    since,
    until,
    waits,
    per_minute,
    step_ms,
    wait_ms,
    cause,
    why,
  }
  await tx
    .insertInto('site_brakes')
    .values({ site, source, ...values })
    .onConflict((conflict) => conflict.columns(['site', 'source']).doUpdateSet(values))
    .execute()
  await notice(tx, {
    kind: 'brake',
    key: noticeKey(at),
    severity: 'daily',
    // The operator is told again where it gets worse, but not of each step back.
    stage: percent === 0 ? 'waits' : 'slow',
    text: [
      `To ${site}${source === '' ? '' : ` from the pool ${source}`} ${brakeInWords(next)}`,
      'Other mail to it goes on, and so does all mail to others. The thresholds are in shaping.toml (brake).',
    ],
    fix: [`posthorn site list`, `posthorn site release '${site}' ends it at once`],
    now,
  })
}

const noticeKey = ({ site, source }: BrakedSite) => `${site} ${source}`.trim()
