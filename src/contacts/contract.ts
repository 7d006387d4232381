import {
  accountRefusals,
  addressField,
  answer,
  type Contract,
  closedOf,
  inexactNumber,
  invalidField,
  operation,
  pageParams,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import { flag, line, maybe, oneOf, pathId, table, text, uuid } from '../fields/index.js'
import { whyNotAsked } from './ask-first.js'
import { allContactOperations, wholeShapes } from './contract-all.js'
import { bulkOperations } from './contract-bulk.js'
import { importContacts } from './contract-import.js'
import { listOperations } from './contract-lists.js'
import {
  contactsFound,
  exactAddress,
  example,
  gone,
  known,
  mailStays,
  membersOf,
  metadata,
  nameOf,
  phoneOf,
} from './contract-parts.js'

export { listedDays } from './answers.js'
export * from './contract-all.js'
export * from './contract-bulk.js'
export * from './contract-import.js'
export * from './contract-lists.js'

export const listContacts = operation('GET /v1/contacts/:listId', {
  id: 'listContacts',
  may: 'read',
  of: membersOf,
  query: {
    ...pageParams(),
    email: exactAddress,
  },
  says: () => ({
    summary: 'List the contacts of a list',
    answers: [contactsFound('Newest first')],
    refusals: [
      refusal(
        'validation_error',
        'The cursor belongs to another list, or to no list',
        'The cursor does not belong to this list',
      ),
    ],
  }),
})

/** Says that a request which says that somebody has left adds nobody. */
export const leftElsewhere = (name: string) =>
  `This field is not supported: ${name}. Nobody was added: put an address that gets no mail on the suppression list (POST /v1/suppressions)`

/** `defaultCountry`: the country of phone numbers without an international prefix; ISO 3166. */
export const addContactTo = (defaultCountry: string) =>
  operation('POST /v1/contacts/:listId', {
    id: 'addContact',
    may: 'full',
    of: membersOf,
    body: shape(
      'NewContact',
      table({
        email: addressField('The address of the contact', 'ann@example.org'),
        firstName: maybe(nameOf('First name')),
        lastName: maybe(nameOf('Last name')),
        phone: maybe(phoneOf(defaultCountry)),
        metadata: maybe(metadata),
        confirm: maybe(
          flag(
            'True: they are asked by mail first, and on the list once they have pressed its button. Not given: as the list says (`doubleOptIn`), for who is not on it',
          ),
        ),
        agreed: maybe(line(1, 1_000, 'How they agreed to get mail, for the consent record')),
      }),
    ),
    says: () => ({
      summary: 'Put a contact on a list',
      description:
        'A contact who is known already gets the fields that are given, also when a renewal has failed. Who is asked first is no contact before they confirm; who has confirmed and is on the list is not asked again. An address is asked once a day, and three times before it confirms.',
      examples: {
        'A contact': { email: 'ann@example.org', firstName: 'Ann', metadata: { town: 'Lagos' } },
      },
      answers: [added('It was not on the list', 201), added('It was on the list', 200), asked],
      refusals: [
        refusal(
          'validation_error',
          'The metadata, together with what is stored already, is too large',
          'metadata, together with what is stored already, has over 16384 bytes',
        ),
        inexactNumber('metadata.customer'),
        refusal(
          'validation_error',
          '`unsubscribed: true` or `subscribed: false`, which nothing here has: whoever has left is suppressed in place of being added',
          leftElsewhere('unsubscribed'),
          { status: 422 },
        ),
        invalidField(
          'The account has no sender for the mail that asks',
          'Name a default sender under Brand first: the mail that asks comes from it',
          'confirm',
        ),
        refusal('conflict', 'They cannot be asked now', whyNotAsked.address, {
          shape: 'NotAsked',
          fields: {
            reason: oneOf(
              Object.keys(whyNotAsked),
              '`address`: asked enough; `form`: as many were asked as may be; `careful`, `stopped`: such mails came back; `suppressed`: nothing is sent to the address',
            ).schema,
          },
          example: { reason: 'address' },
        }),
        refusal(
          'plan_limit_exceeded',
          'The account holds as many contacts as its plan allows',
          'The plan allows 500 contacts; choose a larger marketing plan, or delete some',
        ),
        ...accountRefusals,
        pastDue,
      ],
    }),
  })

const added = (when: string, status: number) =>
  answer(
    when,
    'ContactAdded',
    { id: uuid('The id of the contact'), email: text('Its address') },
    { id: example.id, email: example.email },
    status,
  )

const asked = answer(
  'They are asked by mail first',
  'ContactAsked',
  {
    id: uuid('The id that the contact has, or will have once they have confirmed'),
    email: text('The address'),
    confirmation: { const: 'sent' },
  },
  { id: example.id, email: example.email, confirmation: 'sent' },
  202,
)

// A 404 does not tell a contact of another account from one that is not on the list.
export const removeContact = operation('DELETE /v1/contacts/:listId/:contactId', {
  id: 'removeContact',
  may: 'full',
  audit: 'contact.remove',
  of: {
    params: { ...membersOf.params, contactId: pathId('The UUID of the contact') },
    about: { ...membersOf.about, contactId: 'The UUID of the contact' },
    notFound: 'The list has no contact with this id',
    when: 'The account has no contact list with this id, or not on it',
  },
  says: () => ({
    summary: 'Take a contact off a list',
    description: `One who is then on no list is deleted. Suppression remains. ${mailStays}`,
    answers: [gone('It is off the list', example.id, 'Contact removed from the list')],
  }),
})

export const contacts: Contract = {
  tag: {
    name: 'Contacts',
    description:
      'The people whom campaigns go to, on lists. One contact an account and address, on any number of lists. An address that must not be mailed stays so, whatever is deleted and added again.',
  },
  operations: [
    // These stand before the operations of a list, whose paths also match theirs.
    ...listOperations,
    ...allContactOperations,
    ...bulkOperations,
    listContacts,
    addContactTo(''),
    importContacts,
    removeContact,
  ],
  shapes: () => ({ Contact: closedOf(known), ...wholeShapes() }),
}
