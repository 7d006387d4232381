import { optional, type } from 'superstruct'
import { QueryFlag, QueryInteger, rule, Uuid } from '../fields/index.js'
import { isJsonObject } from '../json/index.js'
import { parseMailbox } from '../mime/index.js'
import { isName, maxMetadataBytes, maxNameLength, mergedMetadata } from './fields.js'
import { isListName, maxListNameLength } from './list.js'
import { phoneNotations, toE164 } from './phone.js'

/*
 * What requests about contacts look like. Every rule says in its message what it expects.
 */
export const ListParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no contact list with this id',
}
/** The path of a list's contacts. */
export const ContactsParams = {
  params: type({ listId: Uuid }),
  notFound: 'The account has no contact list with this id',
}
/** The path of one contact on a list. */
export const ContactParams = {
  params: type({ listId: Uuid, contactId: Uuid }),
  notFound: 'The list has no contact with this id',
}

/** Contacts a page at most, and without `limit`. */
export const maxPage = 500
export const usualPage = 100

/** Which page of a list, or only one address. */
export const ContactsQuery = type({
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(
    rule<string>('the nextCursor of an earlier answer', (value) => typeof value === 'string'),
  ),
  email: optional(rule<string>('an address', (value) => typeof value === 'string')),
})

/** Whether an import starts automations. */
export const ImportQuery = type({ trigger: optional(QueryFlag) })

/** A list's name. */
export const ListBody = type({
  name: rule<string>(
    `a string of 1 to ${maxListNameLength} characters without control characters`,
    (value) => typeof value === 'string' && isListName(value),
  ),
})

const Name = rule<string>(
  `a string of at most ${maxNameLength} characters without control characters`,
  (value) => typeof value === 'string' && isName(value),
)

const Metadata = rule<Record<string, unknown>>(
  `an object of at most ${maxMetadataBytes} bytes as JSON`,
  (value) => isJsonObject(value) && mergedMetadata({}, value) !== undefined,
)

/** `defaultCountry`: of phone numbers without an international prefix; ISO 3166. */
export const contactBody = (defaultCountry: string) =>
  type({
    email: rule<string>(
      'an address: "email@domain"',
      (value) => typeof value === 'string' && parseMailbox(value) !== undefined,
    ),
    firstName: optional(Name),
    lastName: optional(Name),
    phone: optional(
      rule<string>(
        `a phone number, ${phoneNotations(defaultCountry)}`,
        (value) => typeof value === 'string' && toE164(value, defaultCountry) !== undefined,
      ),
    ),
    metadata: optional(Metadata),
  })
