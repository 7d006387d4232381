import {
  answer,
  byId,
  invalidField,
  manyOf,
  type Operation,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import { classNames } from '../deliveries/index.js'
import {
  closed,
  count,
  flag,
  line,
  maybe,
  oneOf,
  orNull,
  shaped,
  table,
  text,
  textThat,
  time,
  uuidGiven,
  whole,
  words,
} from '../fields/index.js'

const flow = {
  seconds: count('Over how many seconds this was counted: less soon after a start'),
  accepted: count('Mails that were accepted'),
  delivered: count('Deliveries that were taken'),
  deferred: count('Attempts that were put off'),
  bounced: count('Deliveries that were refused for good'),
}
const flowExample = { seconds: 3_600, accepted: 5_200, delivered: 5_100, deferred: 90, bounced: 12 }

/** The queue's figures, as the running appliance counts them anyway: no request makes it look through millions. */
export const getQueue = operation('GET /v1/operator/queue', {
  id: 'getQueue',
  may: 'operator',
  says: () => ({
    summary: 'How much waits, and how it flows',
    description:
      "Figures that are counted anyway, a few seconds old; with several nodes this one's.",
    answers: [
      answer(
        'The figures',
        'Queue',
        {
          classes: manyOf({
            class: { type: 'string', enum: classNames, description: 'Whose turn it is first' },
            waiting: count('How many deliveries wait'),
            isLeast: { type: 'boolean', description: 'Whether more wait than were counted' },
            oldestSeconds: orNull(count('How long the oldest has waited; null: none waits')),
            dueSeconds: orNull(
              count('For how long the first has been due that is not under way; null: none is'),
            ),
          }),
          held: closed({
            deliveries: count('How many deliveries are held until somebody decides'),
            isLeast: { type: 'boolean', description: 'Whether more are held than were counted' },
          }),
          lastHour: orNull(shaped('MailFlow')),
          lastDay: orNull(shaped('MailFlow')),
          sites: manyOf({
            site: text('The site that mail goes to'),
            connections: count('Connections to it now'),
            limit: orNull(count('How many it may have; null: not known now')),
            streams: count('Streams (an account, a domain and a class) that have mail due'),
            gate: orNull(text('What holds its mail now; null: nothing does')),
            why: text('Why, in words; empty where nothing holds it'),
            until: orNull(time('Until when')),
          }),
        },
        {
          classes: [
            {
              class: 'transactional',
              waiting: 12,
              isLeast: false,
              oldestSeconds: 40,
              dueSeconds: null,
            },
          ],
          held: { deliveries: 0, isLeast: false },
          lastHour: flowExample,
          lastDay: null,
          sites: [
            {
              site: 'google',
              connections: 4,
              limit: 20,
              streams: 2,
              gate: null,
              why: '',
              until: null,
            },
          ],
        },
      ),
    ],
  }),
})

const choice = {
  accountId: maybe(uuidGiven('Of this account')),
  domain: maybe(words("To this recipients' domain")),
  class: maybe(oneOf(classNames, 'Of this class')),
  campaignId: maybe(uuidGiven('Of this campaign')),
  emailId: maybe(uuidGiven('Of this mail')),
  olderThanSeconds: maybe(
    whole('Accepted longer ago than this', { least: 0, most: 3_153_600_000 }),
  ),
  all: maybe(flag('True: whatever waits; needed where nothing else is chosen')),
  after: maybe(
    textThat(
      'a number',
      (given) => /^\d{1,16}$/.test(given),
      text('The `next` of the answer before, to go on from there'),
    ),
  ),
}
const why = line(1, 200, 'Why; the sender of a mail may see it')

const changed = {
  changed: count('How many deliveries were changed'),
  inFlight: count('How many were left alone as they are under way'),
  unchanged: count('How many were left as they were: never tried yet, held, or gone meanwhile'),
  isAll: {
    type: 'boolean',
    description:
      'Whether all that fit were looked at. One request looks at 10,000 deliveries; where `next` is null too, ask again, or hold the site',
  },
  next: orNull(text('What `after` goes on from; null: nothing is left, or there is no order')),
}

const queueChange = (
  name: 'hold' | 'release' | 'retry' | 'fail',
  says: { summary: string; description: string },
) =>
  operation(`POST /v1/operator/queue/${name}`, {
    id: `${name}Deliveries`,
    may: 'operator',
    audit: `queue.${name}`,
    body: shape('QueueChoice', table({ ...choice, reason: maybe(why) }, { noOthers: true })),
    says: () => ({
      ...says,
      examples: {
        'Of an account': {
          accountId: '01a1fc92-0000-7000-8000-0a1b2c3d4e5f',
          reason: 'ticket 7',
        },
        'To a domain': { domain: 'example.org', reason: 'their postmaster asked for it' },
      },
      answers: [
        answer('It is done', 'QueueChanged', changed, {
          changed: 240,
          inFlight: 2,
          unchanged: 0,
          isAll: true,
          next: null,
        }),
      ],
      refusals: [
        invalidField(
          'Nothing is chosen',
          'Choose deliveries by a field such as accountId or domain, or say "all": true',
          'all',
        ),
      ],
    }),
  })

export const holdDeliveries = queueChange('hold', {
  summary: 'Hold what waits',
  description:
    'Until somebody releases it. Mail that is accepted later is not held: suspend the account, or hold the site, for that.',
})
export const releaseDeliveries = queueChange('release', {
  summary: 'Let what is held leave',
  description:
    'It leaves as mail, which cannot be taken back. What a surge holds stays: decide about the surge. `reason` says nothing here.',
})
export const retryDeliveries = queueChange('retry', {
  summary: 'Try what was put off at once',
  description: 'What was never tried keeps its time. `reason` says nothing here.',
})
export const failDeliveries = queueChange('fail', {
  summary: 'Give up what waits',
  description: 'It is never sent, and its senders are told why: `reason` has to be there.',
})

const surge = byId('surge')
const anySurge = { ...surge, notFound: 'There is no such surge', when: 'There is no such surge' }

const surgeExample = {
  accountId: '01a1fc92-0000-7000-8000-0a1b2c3d4e5f',
  surge: {
    id: '01a1fc92-0000-7000-8000-4a1b2c3d4e5f',
    beganAt: '2026-11-21T10:12:00.000Z',
    usual: 84,
    most: 1_000,
    mails: 1_040,
    held: 3_112,
    sources: [],
    decision: null,
    decidedAt: null,
    decidedBy: null,
    endedAt: null,
  },
}
const surgeFields = { accountId: text('Whose it is'), surge: shaped('Surge') }

export const listOpenSurges = operation('GET /v1/operator/surges', {
  id: 'listOpenSurges',
  may: 'operator',
  says: () => ({
    summary: 'The surges of all accounts that wait for a decision',
    description: 'At most 100 are listed.',
    answers: [
      answer('Surges', 'OpenSurges', { surges: manyOf(surgeFields) }, { surges: [surgeExample] }),
    ],
  }),
})

const decide = (name: 'release' | 'fail', summary: string, description: string) =>
  operation(`POST /v1/operator/surges/:id/${name}`, {
    id: `${name}AnySurge`,
    may: 'operator',
    audit: `surge.${name}`,
    of: anySurge,
    says: () => ({
      summary,
      description,
      answers: [
        answer('It follows in the background', 'DecidedSurge', surgeFields, {
          ...surgeExample,
          surge: {
            ...surgeExample.surge,
            decision: name === 'release' ? 'released' : 'failed',
            decidedAt: '2026-11-21T10:20:00.000Z',
            decidedBy: "the operator's key Billing (…x7Qa)",
          },
        }),
      ],
      refusals: [
        refusal(
          'conflict',
          'Somebody has decided before',
          'Somebody has decided about this surge before: it is released',
        ),
      ],
    }),
  })

export const releaseAnySurge = decide(
  'release',
  'Let what a surge of any account has held leave',
  'For a day no surge of the account is looked for.',
)
export const failAnySurge = decide(
  'fail',
  'Give up what a surge of any account has held',
  'It is never sent.',
)

/** What waits, and changes to it. */
export const queueOperations: readonly Operation[] = [
  getQueue,
  holdDeliveries,
  releaseDeliveries,
  retryDeliveries,
  failDeliveries,
  listOpenSurges,
  releaseAnySurge,
  failAnySurge,
]

/** Shapes that others refer to by name. */
export const queueShapes = () => ({ MailFlow: closed(flow) })
