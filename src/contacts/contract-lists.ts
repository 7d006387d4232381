import {
  accountRefusals,
  answer,
  byId,
  ceiling,
  manyOf,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import { count, flag, line, maybe, table, time, uuid } from '../fields/index.js'
import { listedDays } from './answers.js'
import { gone, mailStays } from './contract-parts.js'

const list = { ...byId('list', 'contact list'), when: 'The account has no such list' }
/** The name of a list. */
export const listName = line(1, 100, 'The name of the list; two lists may have the same name')
const listId = uuid('The id of the list, for `listId`')
/** The field of a list. */
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
    refusals: [
      refusal(
        'conflict',
        'An import by a page puts people on it, or is paused',
        'An import onto this list is under way (“readers.csv”): stop it, or let it end, then delete the list',
      ),
    ],
  }),
})

/** Those of lists themselves. */
export const listOperations = [
  listContactLists,
  createContactList,
  getContactList,
  renameContactList,
  deleteContactList,
]
