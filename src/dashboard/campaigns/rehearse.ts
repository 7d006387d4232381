import { shownCount } from '../../amounts/index.js'
import { findBroadcast, takeBackMs } from '../../broadcasts/index.js'
import { rehearse } from '../../rehearsals/index.js'
import { exactIn } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'
import { campaignName } from './words.js'

interface RehearsalView {
  page: string
  name: string
  id: string
  people: string
  /** To how many of them it goes first, and when the others get it. */
  test: string | undefined
  begins: string
  done: string
  heldUp: string | undefined
  sites: { name: string; people: string; mostly: string; done: string; says: string }[]
  more: number
  others: { begins: string; pool: string; done: string }[]
  /** There are others than the usual one. */
  hasPools: boolean
}

// A page stays below its bytes; the API's answer has all.
const mostSites = 30

/** When a campaign would be done, by provider, and what would change that. Throws what `rehearse` throws. */
export async function rehearsalPage(deps: CampaignPageDeps, visit: Visit): Promise<PageAnswer> {
  const { account, base, params, person } = visit
  const zone = person.timeZone ?? 'UTC'
  const found = await findBroadcast(deps.store.read, account.id, params.id ?? '')
  const { store, clock, rehearsing } = deps
  const of = await rehearse({ store, clock, ...rehearsing }, account.id, found.id, {
    forPeople: true,
    // As its page sends it.
    notBefore: found.status === 'draft' ? clock.now() + takeBackMs : 0,
  })
  const at = (iso: string | null) =>
    iso === null ? 'Not within 30 days' : `${exactIn(Date.parse(iso), zone)}`
  const view: RehearsalView = {
    id: found.id,
    page: `${base}/campaigns/${found.id}`,
    name: campaignName(found),
    people: shownCount(of.recipientCount),
    test: of.test === null ? undefined : testWords(of.test, at),
    begins: `${at(of.startsAt)} (${zone})`,
    done: at(of.doneAt),
    heldUp: of.heldUp === null ? undefined : `${of.heldUp.site}: ${of.heldUp.says}`,
    sites: of.sites.slice(0, mostSites).map((one) => ({
      name: one.site,
      people: shownCount(one.recipients),
      mostly: at(one.mostlyDoneAt),
      done: at(one.doneAt),
      says: one.says || '–',
    })),
    more: Math.max(0, of.sites.length - mostSites),
    hasPools: of.alternatives.some(({ pool }) => pool !== null),
    others: of.alternatives.map(({ startsAt, pool, doneAt }) => ({
      begins: at(startsAt),
      pool: pool ?? 'The usual ones',
      done: at(doneAt),
    })),
  }
  return page('campaigns/rehearse', view, { title: `Rehearsal of ${view.name}` })
}

/** Whom a test goes to, and when the others get it. */
const testWords = (
  { recipients, chosenAt }: { recipients: number; chosenAt: string | null },
  at: (iso: string | null) => string,
): string =>
  chosenAt === null
    ? `${shownCount(recipients)} people, whom all below is about; the others wait until somebody chooses a version`
    : `${shownCount(recipients)} people first; the version for the others is chosen at about ${at(chosenAt)}`
