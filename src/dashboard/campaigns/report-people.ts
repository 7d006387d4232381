import {
  type Broadcast,
  findBroadcast,
  neverSent,
  opensUnmeasured,
  type PeopleAsked,
  pageOfPeople,
  type ReportPerson,
  recipientsAnswer,
  ruleOfPeople,
  type VersionPart,
  versionParts,
  type Who,
  whoNames,
  whoWords,
  whyUnmeasured,
} from '../../broadcasts/index.js'
import { isoTime } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { addressKey } from '../../mime/index.js'
import { countedReasons, leaveWords } from '../../preferences/index.js'
import { urlOfLink } from '../../stats/index.js'
import { idsIn, type Read } from '../../store/index.js'
import { csvLine } from '../../suppression/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { command } from '../shell/command-line.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { type BesidePages, linkTo, listOf } from '../shell/listing.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import type { ReportPageDeps } from './report.js'
import { didNotArrive } from './report-words.js'

interface ReportPeopleView extends BesidePages {
  report: string
  /** Undefined: nobody knows who they are. */
  csv: string | undefined
  name: string
  says: string
  tabs: { label: string; href: string; here: boolean }[]
  hasReasons: boolean
  /** It is of those who left. */
  hasWhy: boolean
  /** What makes a segment of them; undefined where no rule says it, or the visitor may not. */
  segment: { action: string } | undefined
  /** What a form says of whom it is. */
  asked: { name: string; value: string }[]
  /** What makes a draft for them. */
  again: { action: string; label: string } | undefined
  /** That nobody knows who opened it, where that is asked. */
  unmeasured: string | undefined
  faults: Faults
  people: {
    email: string
    /** Undefined: they are no contact (any more), or the visitor sees none. */
    contact: string | undefined
    /** Undefined: there is none. */
    mail: string | undefined
    opened: Moment | undefined
    clicked: Moment | undefined
    reason: string
    why: string
  }[]
  same: SameBy
}

const perPage = 50

/** Whom a page, or a file, of people asks for. Throws a 400 for what no list has. */
export function peopleAsked(query: { get(name: string): string | null | undefined }): PeopleAsked {
  const given = query.get('who') ?? 'opened'
  const who = whoNames.find((name) => name === given)
  if (who === undefined) throw new ApiError('validation_error', 'There is no such list of people')
  const said = query.get('why') ?? ''
  const why = countedReasons.find((one) => one === said)
  if (said !== '' && why === undefined) {
    throw new ApiError('validation_error', 'There is no such reason why people leave')
  }
  return {
    who,
    link: numberIn(query, 'link'),
    reason: numberIn(query, 'reason'),
    why,
    provider: textIn(query, 'provider'),
    variant: textIn(query, 'variant'),
    part: versionParts.find((one) => one === query.get('part')),
  }
}

function numberIn(
  query: { get(name: string): string | null | undefined },
  name: string,
): number | undefined {
  const given = query.get(name) ?? ''
  return !/^\d{1,6}$/.test(given) ? undefined : Number(given)
}

// As long as a domain may be, which a provider's name is where it is none of the large ones.
const mostText = 255

function textIn(
  query: { get(name: string): string | null | undefined },
  name: string,
): string | undefined {
  const given = query.get(name) ?? ''
  return given === '' ? undefined : given.slice(0, mostText)
}

/** The same as values of an address, or of a form. */
const filtersOf = ({ who, link, reason, why, provider, variant, part }: PeopleAsked) => ({
  who,
  link: link?.toString(),
  reason: reason?.toString(),
  why,
  provider,
  variant,
  part,
})

/** Whether a list is of a part of those behind a number. */
const isPart = ({ link, reason, why, provider, variant }: PeopleAsked) =>
  (link ?? reason ?? why ?? provider ?? variant) !== undefined

const tabsShown: readonly Who[] = [
  ...(['sent', 'delivered', 'opened', 'not_opened', 'clicked', 'not_clicked'] as const),
  ...(['left', 'complained', 'unreached'] as const),
  ...(['bounced', 'failed', 'suppressed'] as const),
]

/** With those of mails that were cancelled, or never sent as the rest was. */
const tabsOf = (broadcast: Broadcast): readonly Who[] => {
  if (neverSent(broadcast) > 0) return [...tabsShown, 'not_sent']
  return broadcast.cancelled > 0 ? [...tabsShown, 'cancelled'] : tabsShown
}

// Nothing more is sent to these.
const areGone = new Set<Who>(['left', 'complained'])

/** The people behind a number of the report. Throws a 404. */
export async function showReportPeople(
  deps: ReportPageDeps,
  visit: Visit,
  {
    asked = peopleAsked(visit.query),
    faults = noFaults,
  }: { asked?: PeopleAsked; faults?: Faults } = {},
): Promise<PageAnswer> {
  const { account, base, now, params, query } = visit
  const { read } = deps.store
  const broadcast = await findBroadcast(read, account.id, params.id ?? '')
  const { id, name, subject } = broadcast
  const report = `${base}/campaigns/${id}/report`
  const filters = filtersOf(asked)
  const unmeasured = asked.who === 'not_opened' ? await whyUnmeasured(deps, broadcast) : undefined
  const isKnown = unmeasured === undefined
  const isCut = neverSent(broadcast) > 0
  const { rows, newer, older } = await listOf(
    { path: `${report}/people`, query, filters },
    async (cursor) => {
      if (!isKnown) return { page: [], nextCursor: null }
      const found = await recipientsAnswer(read, id, { ...asked, limit: perPage, cursor })
      return { page: found.recipients, nextCursor: found.nextCursor }
    },
  )
  const contacts = visit.may('contacts.read')
    ? await contactsAmong(
        read,
        account.id,
        rows.map(({ email }) => email),
      )
    : new Map<string, string>()
  const at = (time: string | null) =>
    time === null ? undefined : moment(Date.parse(time), now, visit.person.timeZone ?? undefined)
  const hasRule =
    isKnown && visit.may('contacts.write') && ruleOfPeople(broadcast, asked) !== undefined
  const view: ReportPeopleView = {
    report,
    csv: isKnown ? linkTo(`${report}/people.csv`, filters) : undefined,
    name: name ?? subject,
    says: `People ${whoWords[asked.who].says}${saysMore(asked, await urlOfLink(read, id, asked.link))}`,
    tabs: tabsOf(broadcast).map((who) => ({
      label: isCut && who === 'unreached' ? didNotArrive : whoWords[who].label,
      href: linkTo(`${report}/people`, { who }),
      here: who === asked.who && !isPart(asked),
    })),
    segment: hasRule ? { action: `${report}/segment` } : undefined,
    asked: Object.entries(filters).flatMap(([name, value = '']) =>
      value === '' ? [] : [{ name, value }],
    ),
    again:
      hasRule && !areGone.has(asked.who) && visit.may('campaigns.write')
        ? {
            action: `${report}/again`,
            label:
              asked.who === 'not_opened' ? 'Send again to who has not opened' : 'Send to those',
          }
        : undefined,
    unmeasured: unmeasured && opensUnmeasured(unmeasured),
    faults,
    hasWhy: asked.who === 'left',
    hasReasons: rows.some(({ reason }) => reason !== null),
    people: rows.map(({ email, emailId, openedAt, clickedAt, reason, whyLeft, words }) => ({
      email,
      contact: contacts.has(addressKey(email))
        ? `${base}/contacts/${contacts.get(addressKey(email))}`
        : undefined,
      mail: emailId === null ? undefined : `${base}/emails/${emailId}`,
      opened: at(openedAt),
      clicked: at(clickedAt),
      reason: reason ?? '',
      why: [leaveWords[whyLeft ?? ''], words && `“${words}”`].filter(Boolean).join(': '),
    })),
    newer,
    older,
    same: {
      api: [call(api.broadcasts.listBroadcastRecipients, { of: { id }, query: filters })],
      cli: [command('broadcast report', { of: [id] })],
    },
  }
  return page('campaigns/report-people', view, {
    title: `${whoWords[asked.who].label}: ${view.name}`,
  })
}

/** The contacts of an account with one of these addresses: their ids. */
async function contactsAmong(
  read: Read,
  accountId: string,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const found = await read
    .selectFrom('contacts')
    .select(['id', 'address'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsIn(emails.map(addressKey), 'text'))
    .execute()
  return new Map(found.map(({ id, address }) => [address, id]))
}

function saysMore(
  { link, reason, why, provider, variant, part }: PeopleAsked,
  url: string | undefined,
): string {
  if (provider === '*') return ', at providers beyond those of the report'
  if (provider !== undefined) return `, at ${provider}`
  if (variant !== undefined) return `, of version ${variant}${partWords[part ?? 'all']}`
  if (link !== undefined) return url === undefined ? ', one of the links' : `: ${url}`
  if (reason !== undefined) return ', for one reason'
  return why === undefined ? '' : `: ${leaveWords[why]}`
}

const partWords = {
  all: '',
  test: ', on whom it was tried',
  rest: ', which went to the rest',
} as const satisfies Record<VersionPart | 'all', string>

// People that a file reads at once.
const perSlice = 500

/** All of them as CSV, a page at a time. */
export async function* reportPeopleCsv(
  read: Read,
  broadcastId: string,
  asked: PeopleAsked,
): AsyncGenerator<string> {
  yield csvLine([
    'email',
    'status',
    'openedAt',
    'clickedAt',
    'opens',
    'clicks',
    'reason',
    'whyLeft',
    'whyLeftWords',
  ])
  for (let after: string | undefined; ; ) {
    const found: { recipients: ReportPerson[]; endsAt: string | null } = await pageOfPeople(
      read,
      broadcastId,
      { ...asked, after, limit: perSlice },
    )
    yield found.recipients.map(csvOf).join('')
    if (found.endsAt === null) return
    after = found.endsAt
  }
}

const csvOf = (one: ReportPerson) =>
  csvLine([
    one.email,
    one.status,
    isoTime(one.openedAt) ?? '',
    isoTime(one.clickedAt) ?? '',
    String(one.opensCount),
    String(one.clicksCount),
    one.reason ?? '',
    one.whyLeft ?? '',
    one.words ?? '',
  ])
