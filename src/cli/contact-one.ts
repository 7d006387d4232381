import { Option } from 'commander'
import * as operations from '../contacts/contract.js'
import {
  type ContactState,
  changeContact,
  contactAnswer,
  contactStates,
  findContact,
  findContacts,
  happeningWords,
  type MailVerdict,
  requireContact,
  shownMember,
  toE164,
  whyMail,
} from '../contacts/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import { isJsonObject, refuseInexact } from '../json/index.js'
import type { Read } from '../store/index.js'
import { answering, answeringWith, type CommandDeps } from './answering.js'
import type { CommandRow } from './command-row.js'
import { accountOption } from './database.js'
import { givenTo } from './given.js'
import { limitOption, mustBe } from './option-values.js'
import { remark, say, sayFields, sayTable, shownTime } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'

/** What any of these may be given. */
interface Options {
  account?: string
  list?: string
  segment?: string
  newest?: true
  state?: ContactState
  limit: number
  firstName?: string
  lastName?: string
  phone?: string
  metadata?: Record<string, unknown>
  removeMetadata?: string[]
}

/** The list of an account that an id or a name means. */
type FindList = (read: Read, accountId: string, named: string) => Promise<string>

/** The country of phone numbers without a country code. */
export const defaultCountry = (place: CommandPlace) => settingsOf(place).contacts
export type Settled = CommandDeps & ReturnType<typeof defaultCountry>

/** `contact list`, `show` and `set`: contacts of all lists and of none. */
export const contactOneRows = (listOf: FindList): readonly CommandRow[] => [
  {
    usage: 'list [beginning]',
    does: operations.findContacts,
    about: 'find contacts by how address, name or phone number begins',
    options: [
      accountOption(),
      new Option('--list <id>', 'only those of this list, by its id or name'),
      new Option('--segment <id>', 'only those in this segment, by its id'),
      new Option('--newest', 'newest first, where no beginning is given'),
      new Option('--state <state>', 'mailable, or why no marketing mail goes to them').choices(
        contactStates,
      ),
      limitOption(),
    ],
    help: `Examples:
  $ posthorn contact list ada
  $ posthorn contact list --list Readers --state unsubscribed`,
    run: answeringWith(defaultCountry, (deps, beginning: string | undefined, options: Options) =>
      list(deps, listOf, beginning, options),
    ),
  },
  {
    usage: 'show <email>',
    does: operations.getContact,
    about: 'show a contact, by address or id, and why mail goes to them or does not',
    options: [accountOption()],
    help: 'Example:\n  $ posthorn contact show ada@example.com',
    run: answering(show),
  },
  {
    usage: 'set <email>',
    does: operations.updateContactIn(''),
    about: 'change fields of a contact, by address or id; those that are not given stay',
    options: [
      accountOption(),
      new Option('--first-name <name>', 'first name; empty: none'),
      new Option('--last-name <name>', 'last name; empty: none'),
      new Option('--phone <number>', 'phone number, by which USSD finds the contact; empty: none'),
      new Option('--metadata <json>', 'fields of your own, laid over what is known').argParser(
        jsonObject,
      ),
      new Option('--remove-metadata <keys...>', 'fields of your own that go'),
    ],
    help: `Examples:
  $ posthorn contact set ada@example.com --first-name Ada --metadata '{"town": "Lagos"}'
  $ posthorn contact set ada@example.com --phone '' --remove-metadata town`,
    run: answeringWith(defaultCountry, set),
  },
]

export function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch {
    // Told below.
  }
  throw mustBe('a JSON object')
}

/** Unlike a page of the API, the command searches until it has found enough. */
async function list(deps: Settled, listOf: FindList, q: string | undefined, options: Options) {
  const { read } = deps.store
  const { defaultCountry } = deps
  const { state, limit, segment: segmentId, newest = false } = options
  const { id } = await deps.account()
  const listId = options.list === undefined ? undefined : await listOf(read, id, options.list)
  const members: Awaited<ReturnType<typeof findContacts>>['members'] = []
  let cursor: string | undefined
  do {
    const left = limit - members.length
    const asked = { limit: Math.min(left, 500), cursor, defaultCountry }
    const page = await findContacts(read, id, { q, listId, segmentId, state, newest }, asked)
    members.push(...page.members)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && members.length < limit)
  const isMore = cursor !== undefined
  return {
    json: { contacts: members.map(shownMember), hasMore: isMore, nextCursor: cursor ?? null },
    say() {
      sayTable(
        ['ADDRESS', 'NAME', 'PHONE', 'SUPPRESSED', 'ADDED'],
        members.map((one) => [
          one.email,
          nameOf(one),
          one.phone ?? '',
          one.suppressed ?? '-',
          shownTime(one.createdAt),
        ]),
        'No such contact',
      )
      if (isMore) remark('There are more: --limit shows them')
    },
  }
}

/** All that `GET /v1/contacts/all/:id` answers, in words. */
async function show({ store: { read }, account }: CommandDeps, whom: string) {
  const { id } = await account()
  const contact = await contactOf(read, id, whom)
  const json = await contactAnswer(read, id, contact.id)
  const why = await whyMail(read, id, contact.email)
  return {
    json,
    say() {
      sayFields({
        Id: contact.id,
        Address: contact.email,
        Name: nameOf(contact),
        Phone: contact.phone ?? '',
        Metadata: JSON.stringify(contact.metadata),
        Lists: json.lists.map(({ name }) => name).join(', '),
        Added: shownTime(contact.createdAt),
      })
      say()
      say(`${why.says}.`)
      const verdicts = [
        ['Marketing mail', why.marketing],
        ['Receipts and the like', why.transactional],
        ...why.topics.map((topic) => [`Topic "${topic.name}"`, topic] as const),
      ] as const
      sayTable(
        ['MAIL', 'IS SENT', 'WHY'],
        verdicts.map(([name, verdict]) => [
          name,
          verdict.gets ? 'yes' : 'no',
          causesOf(verdict) || 'nothing speaks against it',
        ]),
        '',
      )
    },
  }
}

const causesOf = ({ because }: MailVerdict) =>
  because
    .map(({ kind, at, by, email, note }) =>
      [
        `${happeningWords[kind]} on ${shownTime(at)}`,
        by && `by ${by}`,
        email && `by the mail ${email.id}`,
        note && `(${note})`,
      ]
        .filter(Boolean)
        .join(' '),
    )
    .join('; ')

/** The fields that were given; all others stay. */
async function set(deps: Settled, whom: string, options: Options) {
  const { defaultCountry } = deps
  const { firstName, lastName, phone, metadata, removeMetadata } = options
  const asked = { firstName, lastName, phone, metadata, removeMetadata }
  if (Object.values(asked).every((value) => value === undefined)) {
    const message = 'Nothing is to be changed'
    throw new OperatorError(message, { advice: 'name a field, such as --first-name' })
  }
  const given = givenTo(operations.updateContactIn(defaultCountry), asked)
  refuseInexact('metadata', given.metadata)
  const { read } = deps.store
  const { id } = await deps.account()
  const contact = await contactOf(read, id, whom)
  const number = given.phone && toE164(given.phone, defaultCountry)
  await changeContact(deps, id, contact.id, { ...given, phone: number })
  const json = await contactAnswer(read, id, contact.id)
  return { json, say: () => say(`${json.email} is changed.`) }
}

/** By address or id. Throws a 404. */
export async function contactOf(read: Read, accountId: string, whom: string) {
  if (!whom.includes('@')) return await requireContact(read, accountId, whom)
  const contact = await findContact(read, accountId, whom.trim())
  if (contact !== undefined) return contact
  throw new ApiError('not_found', `The account has no contact ${whom}`)
}

const nameOf = ({ firstName, lastName }: { firstName: string | null; lastName: string | null }) =>
  [firstName, lastName].filter((name) => name !== null).join(' ')
