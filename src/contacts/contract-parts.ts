import { answer, confirmation, manyOf, type Named, pageFields } from '../contract/index.js'
import {
  aLine,
  type Field,
  field,
  maybe,
  openObject,
  orNull,
  ownData,
  pathId,
  rule,
  suchAs,
  text,
  textThat,
  time,
  uuid,
  words,
} from '../fields/index.js'
import { isJsonObject } from '../json/index.js'
import { isName, maxMetadataBytes, maxNameLength, mergedMetadata } from './fields.js'
import { phoneNotations, toE164 } from './phone.js'

const about = 'The UUID of the list'

/** The parameters in the paths of a list's contacts. */
export const membersOf: Named<{ listId: Field<string> }> = {
  params: { listId: pathId(about) },
  about: { listId: about },
  notFound: 'The account has no contact list with this id',
  when: 'The account has no such list',
}

// `unsubscribed` and `suppressed` belong to the address in the whole account: they are the same on every list.
export const known = {
  id: uuid('The id of the contact, the same on every list'),
  email: text('The address as it was added'),
  firstName: orNull(text('The first name; null when it is not known')),
  lastName: orNull(text('The last name; null when it is not known')),
  phone: orNull(text('The phone number in E.164; null when it is not known')),
  metadata: openObject('Fields of your own'),
  unsubscribed: {
    type: 'boolean',
    description: 'Whether the contact has left all marketing mail of the account',
  },
  unsubscribedAt: orNull(time('When the contact unsubscribed; null when they have not')),
  suppressed: {
    type: ['string', 'null'],
    enum: ['bounce', 'complaint', 'unsubscribe', 'manual', null],
    description: 'The strongest reason for which the address is not mailed; null: there is none',
  },
  createdAt: time('When the account came to know the address'),
}
export const example = {
  id: '01a1fc92-9915-7533-8296-0a5be7d1c2f3',
  email: 'ann@example.org',
  firstName: 'Ann',
  lastName: null,
  phone: '+2348031234567',
  metadata: { town: 'Lagos' },
  unsubscribed: true,
  unsubscribedAt: '2026-11-21T10:00:00.000Z',
  suppressed: 'unsubscribe',
  createdAt: '2026-11-20T10:00:00.000Z',
}

export const nameOf = (which: string) =>
  textThat(
    `a string of at most ${maxNameLength} characters without control characters`,
    isName,
    text(`${which}; a merge tag of campaigns`, { maxLength: maxNameLength }),
    aLine(0, maxNameLength),
  )
// Merged key by key, because several sources write into the same contact: an import must not delete what the shop has
// set.
export const metadata = field(
  rule<Record<string, unknown>>(
    `an object of at most ${maxMetadataBytes} bytes as JSON`,
    (value) => isJsonObject(value) && mergedMetadata({}, value) !== undefined,
  ),
  ownData(
    'Fields of your own, at most 16 KiB as JSON. Those that are given replace the stored ones of the same name; the others stay',
  ),
)

/** A phone number, in any notation of its country or of others; with `isClearable` an empty text is allowed too. */
export const phoneOf = (defaultCountry: string, isClearable = false): Field<string> =>
  textThat(
    `a phone number, ${phoneNotations(defaultCountry)}`,
    (given) => (isClearable && given === '') || toE164(given, defaultCountry) !== undefined,
    text('The phone number in any notation, by which USSD finds the contact', {
      examples: ['08031234567'],
    }),
    suchAs('a phone number', '+234 803 123 4567'),
  )

export const mailStays =
  'Mails that went to a deleted contact stay in the log, with their content, as long as any mail of the account.'
// interface.md leaves the answer of deletions open; all of ours have this one.
export const gone = (when: string, id: string, message: string) =>
  answer(
    when,
    'Gone',
    {
      id: uuid('The id of what was deleted'),
      deleted: { const: true },
      message: confirmation,
    },
    { id, deleted: true, message },
  )

/** The one contact with an address, in a query. */
export const exactAddress = maybe(
  words('Only the contact with this address; upper and lower case are the same'),
)

/** A page of contacts. */
export const contactsFound = (when: string) =>
  answer(
    when,
    'Contacts',
    { contacts: manyOf('Contact', 500), ...pageFields },
    { contacts: [example], hasMore: true, nextCursor: 'AaH8kpkVdTOClgpb59HC8xVb7aI' },
  )
