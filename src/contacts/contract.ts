import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  ceiling,
  closedOf,
  inexactNumber,
  invalidField,
  manyOf,
  operation,
  pageParams,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  flag,
  line,
  maybe,
  oneOf,
  pathId,
  table,
  text,
  textThat,
  time,
  uuid,
} from '../fields/index.js'
import { parseMailbox } from '../mime/index.js'
import { listedDays } from './answers.js'
import { whyNotAsked } from './ask-first.js'
import {
  deleteContact,
  findContacts,
  getContact,
  updateContactIn,
  wholeShapes,
} from './contract-all.js'
import { changeContacts, getBulkTask, stopBulkTask } from './contract-bulk.js'
import { importContacts } from './contract-import.js'
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

export {
  changeContacts,
  deleteContact,
  findContacts,
  getBulkTask,
  getContact,
  importContacts,
  listedDays,
  stopBulkTask,
  updateContactIn,
}

const list = { ...byId('list', 'contact list'), when: 'The account has no such list' }
/** The name of a list. */
export const listName = line(1, 100, 'The name of the list; two lists may have the same name')
const listId = uuid('The id of the list, for `listId`')
/** Of a list. */
export const doubleOptIn = flag(
  'Whether people are asked by mail first who are added one by one (`POST /v1/contacts/:listId`, the page “Add a contact”) or sign up by a form. Imports, and whom your team puts on it from the page of a person or for many people at once, are on it at once',
)
const NewList = shape(
  'NewContactList',
  table({ name: listName, doubleOptIn: maybe(doubleOptIn, 'false') }),
)
const ListChanges = shape(
  'ContactListChanges',
  table(
    { name: maybe(listName), doubleOptIn: maybe(doubleOptIn) },
    { atLeastOne: true, about: 'What is not given stays as it is.' },
  ),
)
const knownList = {
  id: listId,
  name: listName,
  contactCount: count('How many contacts are on it'),
  doubleOptIn,
  createdAt: time('When the list was made'),
}
const exampleList = {
  id: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  name: 'Readers',
  contactCount: 1_200,
  doubleOptIn: false,
  createdAt: '2026-11-21T10:00:00.000Z',
}
export const listContactLists = operation('GET /v1/contacts/lists', {
  id: 'listContactLists',
  may: 'read',
  says: () => ({
    summary: 'List the contact lists',
    answers: [
      answer(
        'Newest first',
        'ContactLists',
        { lists: manyOf('ContactList') },
        { lists: [exampleList] },
      ),
    ],
  }),
})

export const createContactList = operation('POST /v1/contacts/lists', {
  id: 'createContactList',
  may: 'full',
  audit: 'list.create',
  body: NewList,
  says: () => ({
    summary: 'Make a contact list',
    examples: { 'A list': { name: 'Readers' } },
    answers: [
      answer(
        'It was made',
        'ContactListCreated',
        { id: listId, name: listName },
        { id: exampleList.id, name: 'Readers' },
        201,
      ),
    ],
    refusals: [...accountRefusals, ceiling('5,000 contact lists', 'lists')],
  }),
})

export const getContactList = operation('GET /v1/contacts/lists/:id', {
  id: 'getContactList',
  may: 'read',
  of: list,
  says: () => ({
    summary: 'Get a contact list, and how it grows',
    answers: [
      answer(
        'The list, with its last 91 days, the oldest first',
        'ContactListDetails',
        {
          ...knownList,
          days: manyOf(
            {
              day: { type: 'string', format: 'date', description: 'The day, UTC' },
              joined: count('How many joined the list'),
              left: count('How many went from it'),
            },
            listedDays,
          ),
        },
        { ...exampleList, days: [{ day: '2026-11-27', joined: 12, left: 3 }] },
      ),
    ],
  }),
})

export const renameContactList = operation('PATCH /v1/contacts/lists/:id', {
  id: 'renameContactList',
  may: 'full',
  audit: 'list.change',
  of: list,
  body: ListChanges,
  says: () => ({
    summary: 'Rename a contact list, or say whether it wants confirmations',
    examples: {
      'Another name': { name: 'Subscribers' },
      'Double opt-in': { doubleOptIn: true },
    },
    answers: [
      answer('As it is after the request', 'ContactList', knownList, {
        ...exampleList,
        name: 'Subscribers',
      }),
    ],
  }),
})

export const deleteContactList = operation('DELETE /v1/contacts/lists/:id', {
  id: 'deleteContactList',
  may: 'full',
  audit: 'list.delete',
  of: list,
  says: () => ({
    summary: 'Delete a list and its contacts',
    description: `Irreversibly. A contact who is on another list too stays there; suppression remains. ${mailStays}`,
    answers: [gone('It was deleted', exampleList.id, 'List and its contacts deleted')],
  }),
})

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

/** `defaultCountry`: of phone numbers without an international prefix; ISO 3166. */
export const addContactTo = (defaultCountry: string) =>
  operation('POST /v1/contacts/:listId', {
    id: 'addContact',
    may: 'full',
    of: membersOf,
    body: shape(
      'NewContact',
      table({
        email: textThat(
          'an address: "email@domain"',
          (given) => parseMailbox(given) !== undefined,
          text('The address of the contact', { examples: ['ann@example.org'] }),
        ),
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

// No 404 tells a contact of another account from one that is not on the list.
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
    listContactLists,
    createContactList,
    getContactList,
    renameContactList,
    deleteContactList,
    // Before those of a list, whose paths fit these too.
    findContacts,
    getContact,
    updateContactIn(''),
    deleteContact,
    changeContacts,
    getBulkTask,
    stopBulkTask,
    listContacts,
    addContactTo(''),
    importContacts,
    removeContact,
  ],
  shapes: () => ({ Contact: closedOf(known), ...wholeShapes() }),
}
