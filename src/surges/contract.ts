import { answer, byId, type Contract, manyOf, operation, refusal } from '../contract/index.js'
import { count, orNull, text, time, uuid } from '../fields/index.js'

const surge = byId('surge')

const known = {
  id: uuid('The id of the surge'),
  beganAt: time('When it was noticed'),
  usual: count(
    'How many mails an hour the account usually hands in: the average of the hours of the last 14 days that had any, of 24 at least',
  ),
  most: count('With how many mails an hour, to whom it never mailed, a surge begins'),
  mails: count('How many mails the account had handed in within the hour when it was noticed'),
  held: count('How many deliveries were held'),
  sources: manyOf({
    keyId: orNull(
      uuid('The key that handed it in; null: an automation, no key, or many more together'),
    ),
    keyName: orNull(text('Its name')),
    address: text('Where it came from; empty where that could not be told'),
    mails: count('How many of its deliveries were held'),
  }),
  decision: orNull({
    type: 'string',
    enum: ['released', 'failed'],
    description: 'What somebody has decided; null: what is held waits',
  }),
  decidedAt: orNull(time('When somebody has decided')),
  decidedBy: orNull(text('Who has decided')),
  endedAt: orNull(time('When all that was held had gone on its way, or had failed')),
}

const example = {
  id: '01a1fc92-0000-7000-8000-0a1b2c3d4e5f',
  beganAt: '2026-11-21T10:12:00.000Z',
  usual: 84,
  most: 1_000,
  mails: 1_040,
  held: 3_112,
  sources: [
    {
      keyId: '01a1fc92-0000-7000-8000-1f2e3d4c5b6a',
      keyName: 'Web shop',
      address: '203.0.113.7',
      mails: 3_112,
    },
  ],
  decision: null,
  decidedAt: null,
  decidedBy: null,
  endedAt: null,
}

const decided = () =>
  refusal(
    'conflict',
    'Somebody has decided before',
    'Somebody has decided about this surge before: it is released',
  )

export const listSurges = operation('GET /v1/surges', {
  id: 'listSurges',
  may: 'full',
  says: () => ({
    summary: 'List the surges, newest first',
    description:
      'A surge is far more mail than usual to people whom the account never mailed. From then on such mail is accepted and held until an owner or the operator decides; mail to others goes on. At most 100 are listed.',
    answers: [answer('Surges', 'Surges', { surges: manyOf('Surge') }, { surges: [example] })],
  }),
})

export const getSurge = operation('GET /v1/surges/:id', {
  id: 'getSurge',
  may: 'full',
  of: surge,
  says: () => ({ summary: 'One surge', answers: [answer('The surge', 'Surge', known, example)] }),
})

export const releaseSurge = operation('POST /v1/surges/:id/release', {
  id: 'releaseSurge',
  may: 'full',
  audit: 'surge.release',
  of: surge,
  says: () => ({
    summary: 'Let what a surge has held leave',
    description:
      'For a day no surge of the account is looked for. A key that has handed in what is held, or was made after the surge began, may not ask for it: whoever has stolen a key would.',
    answers: [
      answer('It leaves, in the background', 'Surge', known, {
        ...example,
        decision: 'released',
        decidedAt: '2026-11-21T10:20:00.000Z',
        decidedBy: 'Operations',
      }),
    ],
    refusals: [
      decided(),
      refusal(
        'forbidden',
        'The key has handed in what is held, or is younger than the surge',
        'This key has handed in what is held, so it cannot release it; use an older key, or the dashboard',
      ),
    ],
  }),
})

export const failSurge = operation('POST /v1/surges/:id/fail', {
  id: 'failSurge',
  may: 'full',
  audit: 'surge.fail',
  of: surge,
  says: () => ({
    summary: 'Give up what a surge has held',
    description: 'It ends as `failed`, in the background, and is never sent.',
    answers: [
      answer('It is given up, in the background', 'Surge', known, {
        ...example,
        decision: 'failed',
        decidedAt: '2026-11-21T10:20:00.000Z',
        decidedBy: 'Operations',
      }),
    ],
    refusals: [decided()],
  }),
})

export const surges: Contract = {
  tag: {
    name: 'Surges',
    description: 'Mail that is held as it is far more than usual, to people who never got any.',
  },
  operations: [listSurges, getSurge, releaseSurge, failSurge],
}
