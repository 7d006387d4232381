import { columnUses } from '../contacts/index.js'
import {
  accountRefusals,
  ceiling,
  confirmation,
  inexactNumber,
  pageFields,
  pageQuery,
  pastDue,
  refusal,
} from '../contract/index.js'
import {
  closed,
  count,
  openObject,
  orNull,
  ownData,
  shaped,
  text,
  time,
  uuid,
} from '../fields/index.js'
import type { Description } from './description.js'

const listId = '01a1fc92-9915-7533-8296-04ee3d91dd72'
const id = '01a1fc92-9915-7533-8296-0a5be7d1c2f3'
/** Also for a list of another account. */
const noSuchList = refusal(
  'not_found',
  'The account has no such list',
  'The account has no contact list with this id',
)
const listName = text('The name of the list; two lists may have the same name', {
  minLength: 1,
  maxLength: 100,
})
const name = (which: string) => text(`${which}; a merge tag of campaigns`, { maxLength: 200 })
/**
 * Laid over key by key, because several sources write into the same contact: an import must not
 * wipe out what the shop has set.
 */
const metadata = ownData(
  'Fields of your own, at most 16 KiB as JSON. Those that are given replace the stored ones of the same name; the others stay',
)
const mailStays =
  'Mails that went to a deleted contact stay in the log, with their content, as long as any mail of the account.'
/** interface.md leaves the shape of deletions open; all of ours are this one. */
const gone = closed({
  id: uuid('The id of what was deleted'),
  deleted: { const: true },
  message: confirmation,
})

/**
 * The three counts are the contract's. `refused` is ours: a count of invalid rows alone would leave
 * people searching in a million lines.
 */
const importCounts = {
  imported: count('How many rows put somebody on the list'),
  skipped: count(
    'How many rows name somebody who is on it already, from before or by an earlier row',
  ),
  invalid: count('How many rows have no valid address, or something that cannot be kept'),
  refused: {
    type: 'array',
    maxItems: 100,
    description: 'The first 100 of the invalid rows',
    items: closed({
      line: count('The line of the file where the row begins, from 1', { minimum: 1 }),
      reason: text('Why the row is invalid, in words for people'),
    }),
  },
  suppressed: count(
    'How many rows say of somebody that they left, bounced or complained: their address is suppressed for that',
  ),
  columns: {
    type: 'array',
    maxItems: 200,
    description: 'What each column became, in the order of the file',
    items: closed({
      name: text('The name of the column, at most 100 characters of it'),
      became: {
        enum: [...columnUses],
        description:
          '`name` is split into first and last name; `metadata`: each cell is a value under the name of the column; `suppression`: a cell that says that somebody left suppresses the address',
      },
    }),
  },
}
const refused = [{ line: 12, reason: 'email "ann@" is not an email address' }]
const columns = [
  { name: 'E-mail', became: 'email' },
  { name: 'Unsubscribed', became: 'suppression' },
]

/**
 * An import is written while it arrives. When it breaks off, what is in stays in, and the answer
 * says how much that is: the same file can be sent again.
 */
const importCutOff = {
  shape: 'ImportCutOff',
  fields: importCounts,
  example: { imported: 400, skipped: 0, invalid: 1, refused, suppressed: 0, columns },
}

export const contacts: Description = {
  tag: {
    name: 'Contacts',
    description:
      'The people whom campaigns go to, on lists. One contact an account and address, on any number of lists. An address that must not be mailed stays so, whatever is deleted and added again.',
  },
  schemas: {
    ContactList: closed({
      id: uuid('The id of the list, for `listId`'),
      name: listName,
      contactCount: count('How many contacts are on it'),
      createdAt: time('When the list was made'),
    }),
    ContactLists: closed({ lists: { type: 'array', items: shaped('ContactList') } }),
    NewContactList: { type: 'object', properties: { name: listName }, required: ['name'] },
    ContactListCreated: closed({ id: uuid('The id of the list, for `listId`'), name: listName }),
    Gone: gone,
    // `unsubscribed` and `suppressed` are the address's, in the whole account: they are the same on every list.
    Contact: closed({
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
        description:
          'The strongest reason for which the address is not mailed; null: there is none',
      },
      createdAt: time('When the account came to know the address'),
    }),
    Contacts: closed({
      contacts: { type: 'array', maxItems: 500, items: shaped('Contact') },
      ...pageFields,
    }),
    NewContact: {
      type: 'object',
      properties: {
        email: text('The address of the contact', { examples: ['ann@example.org'] }),
        firstName: name('First name'),
        lastName: name('Last name'),
        phone: text('The phone number in any notation, by which USSD finds the contact', {
          examples: ['08031234567'],
        }),
        metadata,
      },
      required: ['email'],
    },
    // OpenAPI 3.1, 'Considerations for File Uploads': bytes in a form have a media type and no `type`.
    CsvUpload: {
      type: 'object',
      properties: { file: { description: 'The CSV file', contentMediaType: 'text/csv' } },
      required: ['file'],
    },
    Imported: closed(importCounts),
    ContactAdded: closed({ id: uuid('The id of the contact'), email: text('Its address') }),
  },
  operations: {
    'GET /v1/contacts/lists': {
      id: 'listContactLists',
      summary: 'List the contact lists',
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'ContactLists',
          value: {
            lists: [
              {
                id: listId,
                name: 'Readers',
                contactCount: 1_200,
                createdAt: '2026-11-21T10:00:00.000Z',
              },
            ],
          },
        },
      ],
      refusals: [],
    },
    'POST /v1/contacts/lists': {
      id: 'createContactList',
      summary: 'Make a contact list',
      body: {
        shape: 'NewContactList',
        examples: [{ when: 'A list', value: { name: 'Readers' } }],
      },
      answers: [
        {
          status: 201,
          when: 'It was made',
          shape: 'ContactListCreated',
          value: { id: listId, name: 'Readers' },
        },
      ],
      refusals: [...accountRefusals, ceiling('5,000 contact lists', 'lists')],
    },
    'PATCH /v1/contacts/lists/:id': {
      id: 'renameContactList',
      summary: 'Rename a contact list',
      params: { id: 'The UUID of the list' },
      body: {
        shape: 'NewContactList',
        examples: [{ when: 'Another name', value: { name: 'Subscribers' } }],
      },
      answers: [
        {
          status: 200,
          when: 'As it is after the request',
          shape: 'ContactList',
          value: {
            id: listId,
            name: 'Subscribers',
            contactCount: 1_200,
            createdAt: '2026-11-21T10:00:00.000Z',
          },
        },
      ],
      refusals: [
        refusal(
          'not_found',
          'The account has no contact list with this id',
          'The account has no contact list with this id',
        ),
      ],
    },
    'DELETE /v1/contacts/lists/:id': {
      id: 'deleteContactList',
      summary: 'Delete a list and its contacts',
      description: `Irreversibly. A contact who is on another list too stays there; suppression remains. ${mailStays}`,
      params: { id: 'The UUID of the list' },
      answers: [
        {
          status: 200,
          when: 'It was deleted',
          shape: 'Gone',
          value: { id: listId, deleted: true, message: 'List and its contacts deleted' },
        },
      ],
      refusals: [noSuchList],
    },
    'GET /v1/contacts/:listId': {
      id: 'listContacts',
      summary: 'List the contacts of a list',
      params: { listId: 'The UUID of the list' },
      query: {
        ...pageQuery,
        email: text('Only the contact with this address; upper and lower case are the same'),
      },
      answers: [
        {
          status: 200,
          when: 'Newest first',
          shape: 'Contacts',
          value: {
            contacts: [
              {
                id,
                email: 'ann@example.org',
                firstName: 'Ann',
                lastName: null,
                phone: '+2348031234567',
                metadata: { town: 'Lagos' },
                unsubscribed: true,
                unsubscribedAt: '2026-11-21T10:00:00.000Z',
                suppressed: 'unsubscribe',
                createdAt: '2026-11-20T10:00:00.000Z',
              },
            ],
            hasMore: true,
            nextCursor: 'AaH8kpkVdTOClgpb59HC8xVb7aI',
          },
        },
      ],
      refusals: [
        noSuchList,
        refusal(
          'validation_error',
          'The cursor belongs to another list, or to no list',
          'The cursor does not belong to this list',
        ),
      ],
    },
    'POST /v1/contacts/:listId': {
      id: 'addContact',
      summary: 'Put a contact on a list',
      description:
        'A contact who is known already gets the fields that are given, also when a renewal has failed.',
      params: { listId: 'The UUID of the list' },
      body: {
        shape: 'NewContact',
        examples: [
          {
            when: 'A contact',
            value: { email: 'ann@example.org', firstName: 'Ann', metadata: { town: 'Lagos' } },
          },
        ],
      },
      answers: [
        {
          status: 201,
          when: 'It was not on the list',
          shape: 'ContactAdded',
          value: { id, email: 'ann@example.org' },
        },
        {
          status: 200,
          when: 'It was on the list',
          shape: 'ContactAdded',
          value: { id, email: 'ann@example.org' },
        },
      ],
      refusals: [
        noSuchList,
        refusal(
          'validation_error',
          'The metadata, together with what is stored already, is too large',
          'metadata, together with what is stored already, has over 16384 bytes',
        ),
        inexactNumber('metadata.customer'),
        refusal(
          'plan_limit_exceeded',
          'The account holds as many contacts as its plan allows',
          'The plan allows 500 contacts; choose a larger marketing plan, or delete some',
        ),
        ...accountRefusals,
        pastDue,
      ],
    },
    'POST /v1/contacts/:listId/import': {
      id: 'importContacts',
      summary: 'Put the contacts of a CSV file on a list',
      description:
        'UTF-8, or UTF-16 with a byte order mark; comma, semicolon, tab or bar, or what a line `sep=;` before all others names; at most 64 MiB and 1,000,000 rows. The first line names the columns: `email`, and if wanted `firstName`, `lastName`, `phone`, in any case, or as exports of other systems call them in many languages (`E-mail 1 - Value`, `Vorname`; a column of whole names is split); all others go into the metadata, over which a JSON object in a column `metadata` or `attributes` is laid; `createdAt`, which an export has, is passed over. `columns` tells what each became. A column that says who left (`unsubscribedAt`, `Unsubscribed from all email`, `Accepts marketing`, a status `bounced`) suppresses these addresses, as the page and the command do; a row whose cell may mean anything is invalid. It is read while it arrives: what is counted as imported is in, even if the rest is refused or the connection breaks. A Content-Length that is too large is refused before anything is read. Importing the same file again skips those; with an `Idempotency-Key` it answers as the first time, once that has come to its end. It starts no automations unless `trigger` is set; with it, `service_unavailable` comes when too many runs are live, and the same file again, later, goes on.',
      params: { listId: 'The UUID of the list' },
      query: {
        trigger: {
          type: 'boolean',
          default: false,
          description:
            'Whether rows that put somebody on the list start automations, by `$list.joined` and, for new contacts, `$contact.created`',
        },
      },
      body: { shape: 'CsvUpload', examples: [] },
      answers: [
        {
          status: 200,
          when: 'The whole file was read',
          shape: 'Imported',
          value: { imported: 960, skipped: 38, invalid: 1, refused, suppressed: 4, columns },
        },
      ],
      refusals: [
        noSuchList,
        refusal(
          'validation_error',
          'The file cannot be read on',
          'Line 17: a quote is not closed',
          {
            shape: 'BrokenCsv',
            fields: {
              line: count('The line from which on the file cannot be read, from 1', { minimum: 1 }),
              ...importCounts,
            },
            example: {
              line: 17,
              imported: 15,
              skipped: 0,
              invalid: 0,
              refused: [],
              suppressed: 0,
              columns,
            },
          },
        ),
        refusal(
          'validation_error',
          'The upload ends in the middle of the file',
          'Malformed multipart body: the closing boundary is missing',
          importCutOff,
        ),
        refusal(
          'validation_error',
          'The upload stands still in the middle of the file',
          'The body took too long to arrive',
          { status: 408, ...importCutOff },
        ),
        refusal(
          'validation_error',
          'The upload is too large, which no Content-Length told beforehand',
          'The body is larger than 67174400 bytes',
          {
            status: 413,
            shape: 'ImportTooLarge',
            fields: { max: count('How many bytes a body may have'), ...importCounts },
            example: {
              max: 67_174_400,
              imported: 240_000,
              skipped: 0,
              invalid: 1,
              refused,
              suppressed: 0,
              columns,
            },
          },
        ),
        refusal(
          'plan_limit_exceeded',
          'The next row would pass what the plan allows',
          'The plan allows 500 contacts; choose a larger marketing plan, or delete some',
          {
            shape: 'ImportFull',
            fields: importCounts,
            example: { imported: 500, skipped: 3, invalid: 0, refused: [], suppressed: 0, columns },
          },
        ),
        refusal(
          'service_unavailable',
          'Too many large requests at once, or the disk cannot be written',
          'Too many large requests at once; try again in a moment',
        ),
        refusal(
          'service_unavailable',
          'With `trigger`: as many runs of automations are live as may be',
          'Too many runs of automations are live; try again later',
          { ...importCutOff, shape: 'ImportWithoutRoom' },
        ),
        ...accountRefusals,
        pastDue,
      ],
    },
    // No 404 tells a contact of another account from one that is not on the list.
    'DELETE /v1/contacts/:listId/:contactId': {
      id: 'removeContact',
      summary: 'Take a contact off a list',
      description: `One who is then on no list is deleted. Suppression remains. ${mailStays}`,
      params: { listId: 'The UUID of the list', contactId: 'The UUID of the contact' },
      answers: [
        {
          status: 200,
          when: 'It is off the list',
          shape: 'Gone',
          value: { id, deleted: true, message: 'Contact removed from the list' },
        },
      ],
      refusals: [
        refusal(
          'not_found',
          'The account has no contact list with this id, or not on it',
          'The list has no contact with this id',
        ),
      ],
    },
  },
}
