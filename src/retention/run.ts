import { forgetRuns, makeForgetContactEvents } from '../automations/index.js'
import { type Plans, readBilling } from '../billing/index.js'
import { dayMs } from '../clock/index.js'
import { addStoredBytes, deleteUnused } from '../contents/index.js'
import { forgetDmarc } from '../dmarc/index.js'
import { makeForgetEvents, type Retentions } from '../events/index.js'
import { type DiskRoom, eachApart, prepared, type Tx } from '../store/index.js'
import { forgetTlsReports } from '../tls-reports/index.js'
import { forgetDeliveries } from '../webhooks/index.js'
import { countBodies } from './count-bodies.js'
import { keepDiskShare } from './disk.js'
import { forgetMails } from './mails.js'
import { cancelOldDrafts, forgetVersions } from './old-drafts.js'
import { type Ages, forgetDays, forgetOldRows } from './old-rows.js'
import { forgetReceived } from './received.js'
import { inSlices, type RetentionDeps, rest } from './slices.js'
import { readState, renumber, setState } from './state.js'
import { strip } from './strip.js'
import { forgetTestMails } from './test-mails.js'
import { dropBodies, dropUnnamed, unnamedBodies } from './uses.js'
import { forgetTested, forgetVariantBodies } from './variant-bodies.js'

/** What a run needs. */
export interface RetentionRunDeps extends RetentionDeps {
  plans: Plans
  dataDir: string
  ages: Ages
  /** For tests. */
  readDisk?: (dataDir: string) => Promise<DiskRoom>
}

/** What a run did: `job retention` says it. */
export interface RetentionResult {
  summary: string
  problems: string[]
  figures: Record<string, number>
}

/** What is not done by then is left to the next run. */
const maxRunMs = 50 * 60_000
const maxCountMs = 15 * 60_000
/** If a clock was set forward, one run deletes at most what a week makes too old. */
const maxStepMs = 7 * dayMs

/**
 * Deletes what is too old, in short writes between other work; safe to stop and to repeat at any moment.
 * Figures come first, as only what they have counted is deleted.
 */
export async function runRetention(
  deps: RetentionRunDeps,
  stop: AbortSignal,
): Promise<RetentionResult> {
  const { store, clock, ages } = deps
  const over = new AbortController()
  const cancel = clock.after(maxRunMs, () => over.abort())
  const signal = AbortSignal.any([stop, over.signal])
  try {
    const problems: string[] = []
    const now = await trustedNow(deps, problems)
    const figures: Record<string, number> = {}
    const part = async (name: string, work: () => Promise<number>) => {
      if (!signal.aborted) figures[name] = (figures[name] ?? 0) + (await work())
    }
    const retentions = retentionsOf(deps)
    let rested = clock.now()
    const pauses = {
      ...deps,
      rest: async () => {
        await rest(clock, clock.now() - rested, signal)
        rested = clock.now()
      },
    }
    const forgetEvents = makeForgetEvents(pauses, retentions)
    const forgetContactEvents = makeForgetContactEvents(pauses, retentions)
    // Before anything is counted, as a VACUUM may have moved the cursor to another mail.
    await renumber(store)
    // The rest of the run is reserved for deletions.
    const counted = new AbortController()
    const stopCounting = clock.after(maxCountMs, () => counted.abort())
    await part('merged_bodies', () =>
      countBodies(deps, AbortSignal.any([signal, counted.signal])),
    ).finally(stopCounting)
    // Early, as this matters most when the disk is nearly full.
    await part('bodies', () => keepDiskShare(deps, { now, signal }))
    await part('events', () => forgetEvents(now, signal))
    await part('contact_events', () => forgetContactEvents(now, signal))
    await part('webhook_deliveries', () => forgetDeliveries({ ...pauses, now }, signal))
    await part('runs', () => forgetRuns(pauses, retentions, { now, signal }))
    await part('reports', () => forgetTlsReports(deps, { now, signal }))
    await part('reports', () => forgetDmarc(deps, { now, signal }))
    await part('mails', () => forgetMails(deps, retentions, { now, signal }))
    for (const what of ['bodies', 'transcripts'] as const) {
      const until = now - ages[what]
      if (Number.isFinite(until)) await part(what, () => strip(deps, what, { until, signal }))
    }
    if (Number.isFinite(ages.drafts)) {
      const until = now - ages.drafts
      await part('drafts', () => cancelOldDrafts(deps, { now, until, signal }))
    }
    if (Number.isFinite(ages.templateVersions)) {
      const until = now - ages.templateVersions
      await part('versions', () => forgetVersions(deps, { until, signal }))
    }
    if (Number.isFinite(ages.bodies)) {
      const until = now - ages.bodies
      await part('bodies', () => forgetCampaignBodies(deps, { until, signal }))
      await part('bodies', () => forgetVariantBodies(deps.store, { until, signal }))
    }
    // Only if all mails are counted: an uncounted one may have such a body.
    if (!counted.signal.aborted) await part('bodies', () => forgetUnnamed(deps, signal))
    await part('rows', async () => {
      const gone = await forgetOldRows(deps, ages, { now, signal })
      return [...gone.values()].reduce((sum, rows) => sum + rows, 0)
    })
    await part('rows', () => forgetTested(deps.store, signal))
    await part('rows', () => forgetTestMails(deps.store, retentions, { now, signal }))
    await part('received', () =>
      forgetReceived(deps.store, retentions, { now, signal, rest: pauses.rest }),
    )
    await part('days', () => forgetDays(deps, ages, { now, signal }))
    // Last, as the parts above have freed contents.
    await part('contents', () => deleteUnused(deps, signal, pauses.rest))
    // A run that was stopped has not seen everything that was old.
    if (!stop.aborted) await store.write((tx) => setState(tx, { ran_at: now }))
    return { summary: summaryOf(figures, over.signal.aborted), problems, figures }
  } finally {
    cancel()
  }
}

/** How long each account's log is kept, by its plan. */
export function retentionsOf({
  store,
  log,
  plans,
}: Pick<RetentionRunDeps, 'store' | 'log' | 'plans'>): Retentions {
  return async () => {
    const accounts = await store.read.selectFrom('accounts').select('id').execute()
    const kept = new Map<string, number>()
    const read = async ({ id }: (typeof accounts)[number]) => {
      const { plan } = await readBilling(store.read, plans, id)
      kept.set(id, plan.retentionDays * dayMs)
    }
    await eachApart(accounts, read, ({ id: accountId }, error) =>
      log.error(
        { error, accountId },
        'How long the log of an account is kept is unknown: it stays',
      ),
    )
    return kept
  }
}

/** The clock's time, but at most some days after the last run's. */
async function trustedNow({ store, clock }: RetentionRunDeps, problems: string[]): Promise<number> {
  const { ran_at: ranAt } = await readState(store.read)
  const now = clock.now()
  if (ranAt === 0 || now <= ranAt + maxStepMs) return now
  problems.push(
    `The last run of retention was ${Math.floor((now - ranAt) / dayMs)} days ago by the clock: this one deletes what ${maxStepMs / dayMs} days made old, the next ones the rest. If the appliance was not down for so long, look at the clock with 'posthorn doctor'`,
  )
  return ranAt + maxStepMs
}

/** What the parts delete, in words for the operator. */
const words: Record<string, string> = {
  mails: 'mails',
  bodies: 'bodies',
  transcripts: 'transcripts',
  events: 'events',
  contact_events: 'events of contacts',
  webhook_deliveries: 'webhook deliveries',
  runs: 'runs of automations',
  drafts: 'old drafts',
  versions: 'versions of templates',
  received: 'mails that came in',
  rows: 'other rows',
  days: 'days of counters',
  contents: 'files',
}

/** What the run did, in a sentence. */
function summaryOf(figures: Record<string, number>, isOver: boolean): string {
  const deleted = Object.entries(words).flatMap(([name, word]) =>
    (figures[name] ?? 0) > 0 ? [`${figures[name]} ${word}`] : [],
  )
  const merged = figures.merged_bodies ?? 0
  const said = [
    deleted.length === 0 ? 'Nothing was too old' : `Deleted ${deleted.join(', ')}`,
    ...(merged > 0 ? [`${merged} bodies were equal to others and are stored once now`] : []),
    ...(isOver ? ['there is more, which the next run deletes'] : []),
  ]
  return said.join('; ')
}

// Campaigns are few, and each has one body.
const atOnce = 100

/** Deletes the contents of campaigns that ended before `until` if no mail has them any more. */
async function forgetCampaignBodies(
  deps: RetentionDeps,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<number> {
  let gone = 0
  for (let after = ''; !signal.aborted; ) {
    const rows = await unusedOfCampaigns(deps.store.read, { after, until, limit: atOnce })
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.campaign
    const pieces = rows.map((row) => ({ item: row, bytes: row.bytes }))
    const drop = async (tx: Tx, row: CampaignBody) => {
      await dropBodies(tx, [row])
      await addStoredBytes(tx, row.accountId, 'campaigns', -row.bytes)
    }
    await inSlices(deps, pieces, drop, signal)
    gone += rows.length
  }
  return gone
}

/** Deletes contents that nothing uses any more since a template was deleted. */
async function forgetUnnamed(deps: RetentionDeps, signal: AbortSignal): Promise<number> {
  let gone = 0
  for (let after = 0; !signal.aborted; ) {
    const { last, bodies } = await unnamedBodies(deps.store.read, after, atOnce)
    if (last === undefined) break
    after = last
    const pieces = bodies.map(({ id }) => ({ item: id, bytes: 10_000 }))
    await inSlices(deps, pieces, dropUnnamed, signal)
    gone += bodies.length
  }
  return gone
}

/** A campaign's content that no mail uses. */
interface CampaignBody {
  campaign: string
  accountId: string
  id: number
  attachments: string | null
  bytes: number
}

/** Campaigns are few, so all of them are read, by the primary key. A body without a count never had a mail. */
const unusedOfCampaigns = prepared<{ after: string; until: number; limit: number }, CampaignBody>(
  (db, { after, until, limit }) =>
    db
      .selectFrom('broadcasts')
      .innerJoin('bodies', 'bodies.id', 'broadcasts.body_id')
      .leftJoin('body_uses', 'body_uses.body_id', 'bodies.id')
      .select([
        'broadcasts.id as campaign',
        'broadcasts.account_id as accountId',
        'bodies.id',
        'attachments',
      ])
      .select(({ fn }) => fn<number>('octet_length', ['html']).as('bytes'))
      .where('broadcasts.id', '>', after)
      .where('ended_at', '<', until)
      // Archived campaigns keep their content, as everybody may see it.
      .where('archive', '=', 0)
      .where(({ or, and, eb }) =>
        or([eb('uses', '<=', 0), and([eb('uses', 'is', null), eb('recipients', '=', 0)])]),
      )
      .orderBy('broadcasts.id')
      .limit(limit),
)
