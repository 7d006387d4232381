import {
  answer,
  byTask,
  type Contract,
  foreignCursor,
  invalidField,
  manyOf,
  type Named,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
  taskNumber,
} from '../contract/index.js'
import { count, openObject, orNull, shaped, table, text, time, words } from '../fields/index.js'
import { stays } from './stays.js'

const params = {
  email: words('The address, in any case of letters', { examples: ['ann@example.org'] }),
}
const ofAddress: Named<typeof params> = {
  params,
  about: { email: 'The address, in any case of letters' },
  notFound: 'This is not an email address',
  when: 'It is not an email address',
}

const many = (about: string) => ({ type: 'array', description: about, items: openObject(about) })

export const downloadPerson = operation('GET /v1/contacts/downloads/:email', {
  id: 'downloadPerson',
  may: 'full',
  audit: 'contact.download',
  of: ofAddress,
  query: pageParams(),
  says: () => ({
    summary: 'All that is known of an address',
    description:
      'For who asks for their data (GDPR Art. 15, 20), whether they are a contact, only in the log of mail, or suppressed. The mails come a page at a time, the newest first; the rest is on every page. The dashboard and `posthorn contact download` give the same as one file.',
    answers: [
      answer(
        'What is known',
        'PersonData',
        {
          address: text('The address in lower case'),
          contact: orNull(shaped('WholeContact')),
          segments: many('The segments that they are in'),
          suppressions: many('Why no mail goes there'),
          wasErased: {
            type: 'boolean',
            description: 'Whether the address was erased: a keyed hash is left of it',
          },
          leftTopics: many('The topics that they left, and when'),
          consent: many('What they agreed to and took back, with when and how'),
          forms: many('What they sent in by forms'),
          received: many('Mails that came in from them, the newest 1,000'),
          runs: many('The automations that they are in or were in'),
          campaigns: many('What they did with each campaign'),
          events: many('Events that you told of them, 1,000 at most'),
          hasAllEvents: { type: 'boolean', description: 'Whether `events` has all there are' },
          mails: many('Mails to them, each with what became of it'),
          ...pageFields,
        },
        {
          address: 'ann@example.org',
          contact: null,
          segments: [],
          suppressions: [{ email: 'ann@example.org', reason: 'bounce', scope: 'all' }],
          wasErased: false,
          leftTopics: [],
          consent: [{ at: '2026-11-21T10:00:00.000Z', kind: 'added', detail: { by: 'api' } }],
          forms: [],
          received: [],
          runs: [],
          campaigns: [],
          events: [],
          hasAllEvents: true,
          mails: [
            {
              id: '01a1fc92-9915-7533-8296-04ee3d91dd72',
              subject: 'Your order',
              to: 'ann@example.org',
              events: [
                {
                  type: 'delivered',
                  at: '2026-11-21T10:00:02.000Z',
                  reply: '250 OK',
                  detail: null,
                },
              ],
            },
          ],
          hasMore: false,
          nextCursor: null,
        },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

const taskOf = byTask('erasure')

const erasure = {
  id: text(taskNumber),
  state: {
    enum: ['running', 'done', 'failed'],
    description:
      'It goes on by itself after a restart; one that has failed goes on when the address is erased again',
  },
  name: text('What stands in the place of the address, the same at each erasure of it'),
  mails: count('How many mails have been gone through'),
  waiting: count(
    'Mails that wait for other recipients, whose copies name the address until they are through; 1,000 are counted',
  ),
  reason: orNull(text('Why it has failed; null: it has not')),
  stays: manyOf({
    what: text('What still has the address'),
    until: text('Until when it has'),
  }),
  begunAt: time('When it began'),
  endedAt: orNull(time('When it ended; null: it has not')),
}
const example = {
  id: '12',
  state: 'running',
  name: 'erased-0f1e2d3c4b5a6978@erased.invalid',
  mails: 20,
  waiting: 0,
  reason: null,
  stays,
  begunAt: '2026-11-21T10:00:00.000Z',
  endedAt: null,
}

export const erasePerson = operation('POST /v1/contacts/erasures', {
  id: 'erasePerson',
  may: 'full',
  audit: 'contact.erase',
  body: shape(
    'ErasePerson',
    table({
      address: words('The address: `a@b` or `Name <a@b>`, whether or not it is a contact’s', {
        examples: ['ann@example.org'],
      }),
    }),
  ),
  says: () => ({
    summary: 'Erase an address',
    description:
      'For who asks to be forgotten (GDPR Art. 17). Irreversible. The contact goes at once, and nothing more is sent; then a task replaces the address wherever the account has it. It is never mailed again, also after the next import. Whoever asks for the same address again gets the task that is under way, or has one that failed go on.',
    examples: { 'An address': { address: 'ann@example.org' } },
    answers: [answer('It has begun', 'Erasure', erasure, example, 202)],
    refusals: [
      invalidField('It is not an email address', 'ann is not an email address', 'address'),
      refusal(
        'conflict',
        'Twenty of them are under way',
        '20 erasures are under way: wait until one has ended',
      ),
    ],
  }),
})

export const getErasure = operation('GET /v1/contacts/erasures/:id', {
  id: 'getErasure',
  may: 'read',
  of: taskOf,
  says: () => ({
    summary: 'How far an erasure is, and what stays',
    answers: [answer('As it stands', 'Erasure', erasure, example)],
  }),
})

/** Erasures are among the operations of contacts. */
export const erasures: Omit<Contract, 'tag'> = {
  operations: [downloadPerson, erasePerson, getErasure],
}
