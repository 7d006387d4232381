import { audienceOf, type Broadcast, findBroadcast, reachableNow } from '../broadcasts/index.js'
import { type Clock, hourMs, isoTime } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import { ApiError } from '../errors/index.js'
import type { Gate, SiteCourse } from '../outbound/index.js'
import type { Store } from '../store/index.js'
import { domainShares } from './audience-domains.js'
import { leavingOf, type RehearsedTest } from './leaving.js'
import { planOf, type RehearsalFacts, readFacts } from './plan.js'
import { sitesOfDomains } from './sites.js'

/** What a rehearsal needs. */
export interface RehearsalDeps {
  store: Pick<Store, 'read' | 'node'>
  clock: Clock
  outbound: Config['outbound']
  shapingFiles: () => readonly string[]
  openResolver: () => Resolver
}

/** What holds mail up, and where. */
export interface HeldUp {
  site: string
  gate: Gate
  says: string
}

/** How a campaign would go, as the API and the command answer it; times are ISO 8601. */
export interface Rehearsal {
  id: string
  recipientCount: number
  startsAt: string
  /** The part on which versions are tried first; null: all leave at once, or by their own clocks. */
  test: { recipients: number; chosenAt: string | null } | null
  /** When it is done; for a version chosen by hand, when its test is done. Null: not within 30 days. */
  doneAt: string | null
  /** What holds it up most, at the site that is done last. */
  heldUp: HeldUp | null
  sites: {
    site: string
    recipients: number
    /** When nine of ten mails have arrived, and when all have that will. */
    mostlyDoneAt: string | null
    doneAt: string | null
    gate: Gate | null
    says: string
  }[]
  /** The same campaign at another hour, or from another pool of addresses. */
  alternatives: { startsAt: string; pool: string | null; doneAt: string | null }[]
}

const laterHours = [1, 6, 12, 24]
const mostPools = 5

/**
 * Rehearses an unsent campaign; nothing is written. Throws a 404, a 409 for one that is under way or over, and a 400
 * where it has no audience. `alternatives`: also looks for better hours and pools. `notBefore` (ms): nothing leaves
 * earlier, as somebody may take it back. `forPeople`: leaves out the operator's files and settings from what holds it
 * up.
 */
export async function rehearse(
  deps: RehearsalDeps,
  accountId: string,
  id: string,
  {
    alternatives = true,
    notBefore = 0,
    forPeople = false,
  }: { alternatives?: boolean; notBefore?: number; forPeople?: boolean } = {},
): Promise<Rehearsal> {
  const { store, clock, outbound } = deps
  const { read } = store
  const draft = await findBroadcast(read, accountId, id)
  refuseUnlessAhead(draft)
  const { reachable: people } = await reachableNow(read, audienceOf(draft))
  const now = clock.now()
  const from = Math.max(now, notBefore)
  const leaving = await leavingOf(read, draft, { people, notBefore: from })
  const { startsAt, mails, test } = leaving(0)
  const { loadReadableShaping } = await import('../outbound/index.js')
  const { data } = loadReadableShaping(deps.shapingFiles())
  const shares = await domainShares(read, accountId, audienceOf(draft).whom)
  const found = { clock, resolver: deps.openResolver(), outbound, data }
  const sites = await sitesOfDomains(found, shares)
  const facts = await readFacts(read, draft, {
    people: mails,
    sites,
    outbound,
    node: store.node.number,
    now,
  })
  const run = (later: number, pool?: string) => runOnce(facts, { pool, ...leaving(later) })
  const { doneAt, courses } = await run(0)
  const others: Rehearsal['alternatives'] = []
  if (alternatives) {
    for (const hours of laterHours) {
      const later = hours * hourMs
      const { doneAt: done } = await run(later)
      others.push({
        startsAt: isoTime(leaving(later).startsAt),
        pool: null,
        doneAt: isoTime(done),
      })
    }
    for (const pool of Object.keys(outbound.pools).slice(0, mostPools)) {
      const { doneAt: done } = await run(0, pool)
      others.push({ startsAt: isoTime(startsAt), pool, doneAt: isoTime(done) })
    }
  }
  const shown = courses.map((course) => shownSite(course, forPeople))
  const last = shown[0]
  return {
    id: draft.id,
    recipientCount: people,
    startsAt: isoTime(startsAt),
    test: shownTest(test),
    doneAt: isoTime(doneAt),
    heldUp: last?.gate == null ? null : { site: last.site, gate: last.gate, says: last.says },
    sites: shown,
    alternatives: others,
  }
}

const shownTest = (test: RehearsedTest | null): Rehearsal['test'] =>
  test && { recipients: test.recipients, chosenAt: isoTime(test.chosenAt) }

function refuseUnlessAhead({ status }: Broadcast): void {
  if (status === 'draft' || status === 'scheduled') return
  throw new ApiError(
    'conflict',
    `Only a campaign that is a draft or scheduled can be rehearsed; this one is ${status}`,
  )
}

/** One run; the sites that are done last come first, and the parts of several threads are one site. */
async function runOnce(facts: RehearsalFacts, run: Parameters<typeof planOf>[1]) {
  const { runRehearsal } = await import('../outbound/index.js')
  const plan = await planOf(facts, run)
  const { doneAt, sites } = await runRehearsal(plan)
  const bySite = new Map<string, SiteCourse>()
  for (const one of sites) {
    const known = bySite.get(one.key)
    bySite.set(one.key, known === undefined ? one : together(known, one))
  }
  const courses = [...bySite.values()].sort((a, b) => endOf(b) - endOf(a))
  return { doneAt, courses }
}

const endOf = ({ doneAt }: SiteCourse) => doneAt ?? Number.POSITIVE_INFINITY

/** Joins two threads' parts of a site: it is done when both are, and what holds up the later one holds up the site. */
function together(a: SiteCourse, b: SiteCourse): SiteCourse {
  const later = endOf(a) >= endOf(b) ? a : b
  const mostlyAt =
    a.mostlyAt === null || b.mostlyAt === null ? null : Math.max(a.mostlyAt, b.mostlyAt)
  return { ...later, mails: a.mails + b.mails, mostlyAt }
}

function shownSite(
  { key, mails, doneAt, mostlyAt, held }: SiteCourse,
  forPeople: boolean,
): Rehearsal['sites'][number] {
  const [first] = held
  return {
    site: key,
    recipients: mails,
    mostlyDoneAt: isoTime(mostlyAt),
    doneAt: isoTime(doneAt),
    gate: first?.gate ?? null,
    says: (forPeople ? first?.plain : undefined) ?? first?.why ?? '',
  }
}
