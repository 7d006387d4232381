import { accountRefusals, answer, operation, pastDue, refusal } from '../contract/index.js'
import { closed, count, maybe, queryFlag, text } from '../fields/index.js'
import { columnUses } from './columns.js'
import { membersOf } from './contract-parts.js'
import { noMailReasons, noneWithoutMail } from './no-mail.js'

// decisions.md: 64 MiB of file, and room for the form around it.
const maxImportBytes = 64 * 1024 * 1024 + 64 * 1024

// The contract has the three counts. `refused` is ours: with only a count of invalid rows people
// would search in a million lines.
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
  noMail: {
    ...closed(
      Object.fromEntries(
        noMailReasons.map((reason) => [reason, count(`How many of them are ${reason}`)]),
      ),
    ),
    description:
      'How many of those whom it has put on the list get no marketing mail, each counted once: for what the file says of them and for what was known before. `suppressed`: by hand; `erased`: they had asked to be forgotten, and get nothing before they sign up again',
  },
  unreadPhones: count(
    'How many rows that were taken in have a `phone` that cannot be read as a number: it is kept in the metadata, as `phone`',
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

const noMail = noneWithoutMail()

const withOneRefused = {
  skipped: 0,
  invalid: 1,
  refused,
  suppressed: 0,
  noMail,
  unreadPhones: 0,
  columns,
}

// An import is written while it arrives. When it breaks off, what is written stays, and the answer
// says how much that is: the same file can be sent again.
const importCutOff = {
  shape: 'ImportCutOff',
  fields: importCounts,
  example: { imported: 400, ...withOneRefused },
}

export const importContacts = operation('POST /v1/contacts/:listId/import', {
  id: 'importContacts',
  may: 'full',
  audit: 'contact.import',
  of: membersOf,
  query: {
    trigger: maybe(
      queryFlag(
        'Whether rows that put somebody on the list start automations, by `$list.joined` and, for new contacts, `$contact.created`',
      ),
    ),
  },
  upload: {
    field: 'file',
    shape: 'CsvUpload',
    // OpenAPI 3.1, 'Considerations for File Uploads': bytes in a form have a media type and no `type`.
    schema: {
      type: 'object',
      properties: { file: { description: 'The CSV file', contentMediaType: 'text/csv' } },
      required: ['file'],
    },
  },
  maxBodyBytes: maxImportBytes,
  says: () => ({
    summary: 'Put the contacts of a CSV file on a list',
    description:
      'UTF-8, or UTF-16 with a byte order mark; comma, semicolon, tab or bar, or what a line `sep=;` before all others names; at most 64 MiB and 1,000,000 rows. The first line names the columns: `email`, and if wanted `firstName`, `lastName`, `phone`, in any case, or as exports of other systems call them in many languages (`E-mail 1 - Value`, `Vorname`; a column of whole names is split); all others go into the metadata, over which a JSON object in a column `metadata` or `attributes` is laid; `createdAt`, which an export has, is passed over. `columns` tells what each became. A column that says who left (`unsubscribedAt`, `Unsubscribed from all email`, `Accepts marketing`, a status `bounced`) suppresses these addresses, as the page and the command do; a row whose cell may mean anything is invalid. It is read while it arrives: what is counted as imported is in, even if the rest is refused or the connection breaks. A Content-Length that is too large is refused before anything is read. Importing the same file again skips those; with an `Idempotency-Key` it answers as the first time, once that has come to its end. It starts no automations unless `trigger` is set; with it, `service_unavailable` comes when too many runs are live, and the same file again, later, goes on.',
    answers: [
      answer('The whole file was read', 'Imported', importCounts, {
        imported: 960,
        skipped: 38,
        invalid: 1,
        refused,
        suppressed: 4,
        noMail: { unsubscribed: 3, bounced: 1, complained: 0, suppressed: 0, erased: 0 },
        unreadPhones: 2,
        columns,
      }),
    ],
    refusals: [
      refusal('validation_error', 'The file cannot be read on', 'Line 17: a quote is not closed', {
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
          noMail,
          unreadPhones: 0,
          columns,
        },
      }),
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
            ...withOneRefused,
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
          example: {
            imported: 500,
            skipped: 3,
            invalid: 0,
            refused: [],
            suppressed: 0,
            noMail,
            unreadPhones: 0,
            columns,
          },
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
  }),
})
