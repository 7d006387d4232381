import { shownCount } from '../../amounts/index.js'
import { type Broadcast, campaignVersions, waitsForDecision } from '../../broadcasts/index.js'
import type { Read } from '../../store/index.js'
import { exactWithZone } from '../format.js'
import type { Html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import { peopleCell } from './report-words.js'
import { isTypedFor } from './typed-number.js'

/** The versions that a campaign tests. */
export interface VersionsView {
  /** What is known of the version for the rest. */
  says: string
  rows: { name: string; cells: (string | Html)[]; key: string }[]
  /** Whether one can be chosen by hand now. */
  canChoose: boolean
  /** How many get the version that is chosen. */
  rest: number
  typesNumber: boolean
}

/** How many wait for the version that is chosen. */
export const restOf = ({ audience, recipients }: Pick<Broadcast, 'audience' | 'recipients'>) =>
  Math.max(0, audience - recipients)

const percent = (chance: number) => `${Math.round(chance * 100)} %`

/** The versions of a campaign with their figures; undefined: it has none. */
export async function versionsView(
  read: Read,
  broadcast: Broadcast,
  { person, may, base }: Pick<Visit, 'person' | 'may' | 'base'>,
): Promise<VersionsView | undefined> {
  const { variants, variantTest } = await campaignVersions(read, broadcast)
  if (variantTest === null) return undefined
  const zone = person.timeZone ?? 'UTC'
  const here = `${base}/campaigns/${broadcast.id}/report`
  const isKnown = variants.some(({ opened, clicked }) => opened + clicked > 0)
  const isOn = broadcast.status === 'sending' || broadcast.status === 'paused'
  return {
    says: decisionWords(broadcast, { test: variantTest, zone }),
    rows: variants.map((one) => ({
      name: one.subject === null ? one.key : `${one.key}: ${one.subject}`,
      key: one.key,
      cells: [
        ...(
          [
            ['made', one.recipients],
            ['delivered', one.delivered],
            ['opened', one.opened],
            ['clicked', one.clicked],
          ] as const
        ).map(([who, count]) =>
          peopleCell(shownCount(count), linkTo(`${here}/people`, { who, variant: one.key })),
        ),
        // Before anybody did anything the sum says nothing but who got fewer mails.
        isKnown ? percent(one.chance) : 'not known yet',
      ],
    })),
    rest: restOf(broadcast),
    typesNumber: isTypedFor(restOf(broadcast)),
    canChoose: isOn && waitsForDecision(broadcast) && may('campaigns.write'),
  }
}

interface TestWords {
  share: number
  by: 'clicks' | 'opens'
}

/** In words: what was chosen and by whom, or when it will be. */
function decisionWords(
  { winner, decided_by, decided_at, decide_at, status, expanded }: Broadcast,
  { test: { share, by }, zone }: { test: TestWords; zone: string },
): string {
  const when = (at: number | null) => (at === null ? '' : exactWithZone(at, zone))
  if (winner !== null)
    return `Version ${winner} went to the rest from ${when(decided_at)} on: ${whyChosen[decided_by ?? 'account']}.`
  if (share === 100) return 'All of the audience is in the test: there is no rest.'
  if (expanded === 1 || status === 'cancelled') return 'No version was chosen for the rest.'
  if (decide_at === null)
    return `${share} % of the audience get one of the versions; the rest waits.`
  return `The version that people like best, by their ${by}, goes to the rest at ${when(decide_at)}.`
}

const whyChosen = {
  figures: 'it was better, by what people did',
  close: 'no version was better for sure',
  account: 'somebody of the account chose it',
}
