import { shownCount } from '../../amounts/index.js'
import {
  asRecipientsGet,
  type Broadcast,
  byHandWords,
  campaignVersions,
  chosenWords,
  choserOf,
  type MeasureDeps,
  type Unmeasured,
  unmeasuredOf,
  type VersionPart,
  waitsForDecision,
} from '../../broadcasts/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { exactWithZone, shortly } from '../format.js'
import type { Html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import { peopleCell } from './report-words.js'
import { isTypedFor } from './typed-number.js'

/** The versions that a campaign tests. */
export interface VersionsView {
  /** What is known of the version for the rest. */
  says: string
  keys: string[]
  /** Of each version, what became of the test; of the chosen one what its rest did stands apart. */
  tables: { caption: string; columns: Column[]; rows: (string | Html)[][] }[]
  /** Whether one can be chosen by hand now. */
  canChoose: boolean
  /** How many get the version that is chosen. */
  rest: number
  typesNumber: boolean
}

type Contents = Awaited<ReturnType<typeof asRecipientsGet>>

/**
 * What inboxes show of each version, as far as it tells one from another: the subject, then whom it is from, then the
 * preview text.
 */
function inboxLines(contents: Contents): string[] {
  let lines = contents.map(({ seen }) => seen.subject)
  const parts: ((seen: Broadcast) => string)[] = [
    ({ from_header: from }) => {
      const mailbox = parseMailbox(from)
      return `from ${mailbox?.name ?? mailbox?.address ?? from}`
    },
    ({ preview_text: preview }) => (preview ? `“${shortly(preview, 60)}”` : 'no preview text'),
  ]
  for (const partOf of parts) {
    const longer = contents.map(({ seen }, at) => `${lines[at]}, ${partOf(seen)}`)
    if (new Set(longer).size > new Set(lines).size) lines = longer
  }
  return lines
}

/** The subjects that people get: of each version, with what else tells versions apart, or of the campaign. */
export async function subjectsSaid(read: Read, broadcast: Broadcast): Promise<string> {
  const contents = await asRecipientsGet(read, broadcast)
  return [...new Set(inboxLines(contents))].join(' / ')
}

/** What each version is called, by its letter: `A: Autumn news, from Shop`; the letter alone where inboxes show the same. */
export function versionNames(contents: Contents): Map<string | undefined, string> {
  const lines = inboxLines(contents)
  const areTold = new Set(lines).size > 1
  return new Map(contents.map(({ key = '' }, at) => [key, areTold ? `${key}: ${lines[at]}` : key]))
}

/** How many wait for the version that is chosen. */
export const restOf = ({ audience, recipients }: Pick<Broadcast, 'audience' | 'recipients'>) =>
  Math.max(0, audience - recipients)

/** Of those whom it reached, how many did what versions are compared by. */
const percentOf = ({ did, of }: { did: number; of: number }) =>
  of === 0 ? '' : ` (${((did / of) * 100).toFixed(1)} %)`

// No count of people makes anything certain.
const percent = (chance: number) =>
  chance < 0.01 ? 'under 1 %' : chance > 0.99 ? 'over 99 %' : `${Math.round(chance * 100)} %`

/** The versions of a campaign with their figures; undefined: it has none. */
export async function versionsView(
  deps: MeasureDeps,
  broadcast: Broadcast,
  { person, may, base, now }: Pick<Visit, 'person' | 'may' | 'base' | 'now'>,
): Promise<VersionsView | undefined> {
  const { variants, variantTest } = await campaignVersions(deps.store.read, broadcast)
  if (variantTest === null) return undefined
  const zone = person.timeZone ?? 'UTC'
  const here = `${base}/campaigns/${broadcast.id}/report`
  const unmeasured = await unmeasuredOf(deps, broadcast)
  const names = versionNames(await asRecipientsGet(deps.store.read, broadcast))
  const isOn = broadcast.status === 'sending' || broadcast.status === 'paused'
  return {
    says: decisionWords(broadcast, {
      test: variantTest,
      now,
      zone,
      chosen: chosenWords(broadcast, await choserOf(deps.store.read, broadcast)),
    }),
    keys: variants.map(({ key }) => key),
    tables: tablesOf(variants, { by: variantTest.by, here, unmeasured, names }),
    rest: restOf(broadcast),
    typesNumber: isTypedFor(restOf(broadcast)),
    canChoose: isOn && waitsForDecision(broadcast) && may('campaigns.write'),
  }
}

type Versions = Awaited<ReturnType<typeof campaignVersions>>['variants']
type Column = { label: string; kind?: 'main' | 'number' }

const ofMails: readonly Column[] = [
  { label: 'Version', kind: 'main' },
  ...['Mails', 'Delivered', 'Opened', 'Clicked'].map(
    (label): Column => ({ label, kind: 'number' }),
  ),
]

interface TableOptions {
  by: 'clicks' | 'opens'
  here: string
  unmeasured: Unmeasured
  /** Of the versions, by their letters. */
  names: ReadonlyMap<string | undefined, string>
}

/** The test and, once a version is chosen, what its rest did: they got it at another time, and tell nothing of the others. */
function tablesOf(
  versions: Versions,
  { by, here, unmeasured, names }: TableOptions,
): VersionsView['tables'] {
  const nameOf = ({ key }: Versions[number]) => names.get(key) ?? key
  const isKnown = versions.some(({ test: { compared } }) => compared.did > 0)
  const did = by === 'clicks' ? 'clicked' : 'opened'
  // Only a version with a rest has mails of two kinds.
  const cells = (
    { key: variant, rest }: Versions[number],
    of: { part: VersionPart; counts: Omit<Versions[number]['test'], 'compared'> },
  ) => {
    const part = rest === null ? undefined : of.part
    const { recipients, delivered, opened, clicked } = of.counts
    return (
      [
        ['made', shownCount(recipients)],
        ['delivered', shownCount(delivered)],
        ['opened', unmeasured.opens === null ? shownCount(opened) : '–'],
        ['clicked', unmeasured.clicks === null ? shownCount(clicked) : '–'],
      ] as const
    ).map(([who, count]) => peopleCell(count, linkTo(`${here}/people`, { who, variant, part })))
  }
  const tried = {
    caption: 'The test: on whom the versions were tried',
    columns: [
      ...ofMails,
      { label: `People who ${did}`, kind: 'number' as const },
      { label: 'Chance to be best', kind: 'number' as const },
    ],
    rows: versions.map((one) => {
      const { compared } = one.test
      return [
        nameOf(one),
        ...cells(one, { part: 'test', counts: one.test }),
        `${shownCount(compared.did)} of ${shownCount(compared.of)}${percentOf(compared)}`,
        // Before anybody did anything the sum says nothing but who got fewer mails.
        isKnown ? percent(one.chance) : 'not known yet',
      ]
    }),
  }
  const rests = versions.flatMap((one) =>
    one.rest === null ? [] : [[nameOf(one), ...cells(one, { part: 'rest', counts: one.rest })]],
  )
  if (rests.length === 0) return [tried]
  const caption = 'The rest: who got the version that was chosen'
  return [tried, { caption, columns: [...ofMails], rows: rests }]
}

interface TestWords {
  share: number
  by: 'clicks' | 'opens'
}

/** In words: what was chosen and by whom, or when it will be. */
function decisionWords(
  broadcast: Broadcast,
  {
    test: { share, by },
    now,
    zone,
    chosen,
  }: { test: TestWords; now: number; zone: string; chosen: string },
): string {
  const { winner, decided_at, decide_at, status, expanded } = broadcast
  const when = (at: number | null) => (at === null ? '' : exactWithZone(at, zone))
  if (winner !== null)
    return `Version ${winner} went to the rest from ${when(decided_at)} on: ${chosen}.`
  if (share === 100) return 'All of the audience is in the test: there is no rest.'
  if (expanded === 1 || status === 'cancelled') return 'No version was chosen for the rest.'
  const byHand = waitsForDecision(broadcast) ? byHandWords(broadcast) : undefined
  if (byHand !== undefined) return `${byHand}.`
  if (decide_at === null)
    return `${share} % of the audience get one of the versions; the rest waits.`
  if (decide_at <= now) {
    const then = status === 'paused' ? 'once the campaign goes on' : 'in a moment'
    return `The test is over: a version is chosen for the rest ${then}.`
  }
  return `The version that people like best, by their ${by}, goes to the rest at ${when(decide_at)}.`
}
