import { idsIn, type Read } from '../../store/index.js'
import { namesOf } from './names.js'

type Named = 'list' | 'topic' | 'segment' | 'campaign'

// What a condition asks of something that has a name, by the rest of the field; in the order of the select.
const asked: Readonly<Record<string, readonly [thing: Named, says: (called: string) => string]>> = {
  list: ['list', (one) => `Is on ${one}`],
  'list.joinedAt': ['list', (one) => `Joined ${one}`],
  topic: ['topic', (one) => `Has left ${one}`],
  segment: ['segment', (one) => `Is in ${one}`],
  'broadcast.sent': ['campaign', (one) => `Was sent ${one}`],
  'broadcast.delivered': ['campaign', (one) => `Got ${one}`],
  'broadcast.opened': ['campaign', (one) => `Opened ${one}`],
  'broadcast.clicked': ['campaign', (one) => `Clicked in ${one}`],
  'broadcast.left': ['campaign', (one) => `Left by ${one}`],
  'broadcast.complained': ['campaign', (one) => `Complained about ${one}`],
  'broadcast.unreached': ['campaign', (one) => `Was not reached by ${one}`],
  'broadcast.openedAt': ['campaign', (one) => `The time that they first opened ${one}`],
  'broadcast.clickedAt': ['campaign', (one) => `The time that they first clicked in ${one}`],
  'broadcast.variant': ['campaign', (one) => `The version that they got of ${one}`],
  'broadcast.provider': ['campaign', (one) => `Their mailbox provider, by ${one}`],
  'broadcast.links': ['campaign', (one) => `The links that they clicked, by number, in ${one}`],
  'broadcast.reason': ['campaign', (one) => `Why they did not get, by number, ${one}`],
  'broadcast.unreachedAs': [
    'campaign',
    (one) => `What became of the mail that did not arrive of ${one}`,
  ],
  'broadcast.whyLeft': ['campaign', (one) => `Why they left by ${one}`],
}

// Of which campaigns all conditions offer: the others come with a rule, as a report makes it.
export const offeredOf = {
  list: ['list', 'list.joinedAt'],
  topic: ['topic'],
  segment: ['segment'],
  broadcast: ['sent', 'delivered', 'opened', 'clicked', 'left', 'complained', 'unreached'].map(
    (last) => `broadcast.${last}`,
  ),
} as const

/** What a field is called that names a thing by its id; undefined for any other. `name`: undefined of what is deleted. */
export function namedLabel(path: string, name: string | undefined): string | undefined {
  const [root = '', , last] = path.split('.')
  const found = asked[last === undefined ? root : `${root}.${last}`]
  if (found === undefined) return undefined
  const [thing, says] = found
  return says(name === undefined ? `a ${thing} that is deleted` : `the ${thing} “${name}”`)
}

/** The path of such a field, by the id of the thing: `list.UUID.joinedAt`. */
export function namedPath(form: string, id: string): string {
  const [root = '', last] = form.split('.')
  return last === undefined ? `${root}.${id}` : `${root}.${id}.${last}`
}

/** The labels of those fields that name something of the account, also of what is deleted. */
export async function labelsOf(
  read: Read,
  accountId: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const idOf = (path: string) => path.split('.')[1]?.toLowerCase() ?? ''
  const named = paths.filter((path) => namedLabel(path, '') !== undefined)
  const campaignIds = named.filter((path) => path.startsWith('broadcast.')).map(idOf)
  const [names, campaigns] = await Promise.all([
    namesOf(read, accountId, named.map(idOf)),
    campaignTitles(read, accountId, campaignIds),
  ])
  const linked = await linkNumbers(read, named.filter((path) => path.endsWith('.links')).map(idOf))
  return new Map(
    named.flatMap((path): [string, string][] => {
      const label = namedLabel(path, names.get(idOf(path)) ?? campaigns.get(idOf(path)))
      const links = path.endsWith('.links') ? (linked.get(idOf(path)) ?? '') : ''
      return label === undefined ? [] : [[path, `${label}${links}`]]
    }),
  )
}

const mostLetters = 60

/** What a campaign is known by. */
export const campaignTitle = ({ name, subject }: { name: string | null; subject: string }) =>
  (name ?? subject).slice(0, mostLetters)

async function campaignTitles(read: Read, accountId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>()
  const rows = await read
    .selectFrom('broadcasts')
    .select(['id', 'name', 'subject'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .execute()
  return new Map(rows.map((row) => [row.id, campaignTitle(row)]))
}

// A campaign may have a hundred; a select has room for the first ones.
const mostLinks = 10

/** Which number is which of a campaign's links, as a label has it behind its words. */
async function linkNumbers(read: Read, ids: readonly string[]): Promise<Map<string, string>> {
  const said = new Map<string, string>()
  for (const id of new Set(ids)) {
    const links = await read
      .selectFrom('broadcast_links')
      .select(['number', 'url'])
      .where('broadcast_id', '=', id)
      .where('url', '<>', '*')
      .orderBy('number')
      .limit(mostLinks)
      .execute()
    const each = links.map(({ number, url }) => `${number} is ${url.slice(0, mostLetters)}`)
    if (each.length > 0) said.set(id, ` (${each.join(', ')})`)
  }
  return said
}
