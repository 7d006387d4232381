import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  closedOf,
  confirmation,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  field,
  line,
  maybe,
  openObject,
  orNull,
  table,
  text,
  time,
  uuid,
} from '../fields/index.js'
import { SegmentRule } from './fields.js'

const segment = byId('segment')

/** The name of a segment. */
export const segmentName = line(
  1,
  100,
  'The name of the segment; two segments may have the same name',
)
const ruleText =
  'Whom it holds for: { field, operator, value } or { all | any: [rules] } or { not: rule }, as in automations, at most 50 conditions and 4 levels. Fields: `contact.email` (`firstName`, `lastName`, `phone`, `createdAt`, `metadata.…`), `list.ID` (is on it), `list.ID.joinedAt`, `topic.ID` (has left it), `segment.ID` (is in it; no circles, 3 deep), `mailable`, `broadcast.ID.opened` (`clicked`, `openedAt`, `clickedAt`, `left`, `complained`, `unreached`, `sent`, `delivered`: of one campaign; `variant`, `provider`, `links`, `reason`, `unreachedAs`, `whyLeft`: of who did something with it, as its report has them; whom it was sent to is looked up once a segment asks, as long as its mails are kept), `engagement.sent` (`opened`, `clicked`, `lastSentAt`, `lastOpenedAt`, `lastClickedAt`; of people, not machines), `event.NAME` (how often it came; with `since`, a duration back, only what came since). Operators: those of automations, and `within` and `not_within` with a duration back (`P30D`). `ignoreCase: true` compares texts whatever their case. A comparison that can decide nothing of its field is refused: what holds or not (`list.ID`, `mailable`) wants `eq` with true or false, a count a whole number of 0 or more, a time `gt`, `gte`, `lt` or `lte` with a date or a duration back, a text no order; and so do fields of the account that it describes as a number or a date.'
export const segmentRule = field(SegmentRule, openObject(ruleText))

const numbers = {
  count: count('For how many people the rule holds'),
  mailable: count('How many of them get marketing mail'),
  unsubscribed: count('How many of the others do not, because they unsubscribed'),
  bounced: count('… because their address bounced'),
  complained: count('… because they complained'),
  suppressed: count('… because somebody suppressed the address'),
}
const exampleNumbers = {
  count: 1_540,
  mailable: 1_188,
  unsubscribed: 310,
  bounced: 42,
  complained: 0,
  suppressed: 0,
}
const known = {
  id: uuid('The id of the segment'),
  name: segmentName,
  rule: openObject(ruleText),
  ...numbers,
  state: {
    type: 'string',
    enum: ['filling', 'current'],
    description:
      '`filling`: all contacts are being looked at, and the numbers rise; `current`: changes are in within seconds',
  },
  asOf: time('When it was last brought up to date'),
  createdAt: time('When it was made'),
} as const
const exampleRule = {
  all: [
    { field: 'contact.metadata.town', operator: 'eq', value: 'Lagos', ignoreCase: true },
    { field: 'engagement.lastOpenedAt', operator: 'within', value: 'P30D' },
  ],
}
const example = {
  id: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  name: 'Readers in Lagos',
  rule: exampleRule,
  ...exampleNumbers,
  state: 'current',
  asOf: '2026-11-28T10:00:00.000Z',
  createdAt: '2026-11-21T10:00:00.000Z',
}
const details = {
  ...known,
  broken: {
    type: 'array',
    items: text('A part of the rule that names what is not there any more'),
    description: 'Where there is any, the rule holds for nobody',
  },
  usedBy: {
    ...manyOf({
      kind: {
        type: 'string',
        enum: ['segment', 'automation', 'campaign'],
        description: 'What it is',
      },
      id: uuid('Its id'),
      name: text('Its name'),
    }),
    description: 'What asks for this segment; while there is any it cannot be deleted',
  },
} as const
const exampleDetails = { ...example, broken: [], usedBy: [] }
const wrongRule = () =>
  refusal(
    'validation_error',
    'The rule names what the account has not',
    'rule: list.01a1fc92-9915-7533-8296-04ee3d91dd72: the account has no such list',
  )

export const listSegments = operation('GET /v1/segments', {
  id: 'listSegments',
  may: 'read',
  says: () => ({
    summary: 'List the segments',
    answers: [
      answer(
        'Newest first; there are 100 at most',
        'Segments',
        { segments: manyOf('Segment', 100) },
        { segments: [example] },
      ),
    ],
  }),
})

export const createSegment = operation('POST /v1/segments', {
  id: 'createSegment',
  may: 'full',
  audit: 'segment.create',
  body: shape('NewSegment', table({ name: segmentName, rule: segmentRule })),
  says: () => ({
    summary: 'Make a segment',
    description:
      'Its people are looked for from then on; a million of contacts takes a minute or so.',
    examples: { 'Readers of a town': { name: example.name, rule: exampleRule } },
    answers: [answer('It was made', 'Segment', known, { ...example, state: 'filling' }, 201)],
    refusals: [
      wrongRule(),
      refusal('conflict', 'There are 100 segments', 'An account has at most 100 segments'),
      ...accountRefusals,
    ],
  }),
})

// Stands before the operation of one segment, whose path also matches this one.
export const countSegment = operation('POST /v1/segments/count', {
  id: 'countSegment',
  may: 'read',
  body: shape('SegmentToCount', table({ rule: segmentRule })),
  says: () => ({
    summary: 'Count for whom a rule would hold',
    description:
      'At once: where the account has more than 4,000 contacts the numbers are about, from a sample.',
    examples: { 'A rule': { rule: exampleRule } },
    answers: [
      answer(
        'How many there are',
        'SegmentCount',
        {
          ...numbers,
          sample: orNull(count('How many contacts were looked at; null: all of them')),
        },
        { ...exampleNumbers, sample: 20_000 },
      ),
    ],
    refusals: [wrongRule()],
  }),
})

export const getSegment = operation('GET /v1/segments/:id', {
  id: 'getSegment',
  may: 'read',
  of: segment,
  says: () => ({
    summary: 'Get a segment, and what uses it',
    answers: [answer('The segment', 'SegmentDetails', details, exampleDetails)],
  }),
})

export const changeSegment = operation('PATCH /v1/segments/:id', {
  id: 'changeSegment',
  may: 'full',
  audit: 'segment.change',
  of: segment,
  body: shape(
    'SegmentChanges',
    table(
      { name: maybe(segmentName), rule: maybe(segmentRule) },
      { atLeastOne: true, about: 'What is not given stays as it is.' },
    ),
  ),
  says: () => ({
    summary: 'Change a segment',
    description: 'After another rule all contacts are looked at again.',
    examples: { 'Another name': { name: 'Lagos' } },
    answers: [answer('As it is after the request', 'Segment', known, example)],
    refusals: [wrongRule()],
  }),
})

export const deleteSegment = operation('DELETE /v1/segments/:id', {
  id: 'deleteSegment',
  may: 'full',
  audit: 'segment.delete',
  of: segment,
  says: () => ({
    summary: 'Delete a segment',
    description: 'Nobody of it is deleted.',
    answers: [
      answer(
        'It was deleted',
        'SegmentDeleted',
        { message: confirmation },
        { message: 'Segment deleted; its people stay' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'Another segment or an automation asks for it',
        '"Readers" is used by automation "Welcome"; change that first',
      ),
    ],
  }),
})

export const listSegmentMembers = operation('GET /v1/segments/:id/members', {
  id: 'listSegmentMembers',
  may: 'read',
  of: segment,
  query: pageParams(),
  says: () => ({
    summary: 'List the people of a segment',
    answers: [
      answer(
        'Newest contact first',
        'SegmentMembers',
        { contacts: manyOf('Contact', 500), ...pageFields },
        {
          contacts: [
            {
              id: '01a1fc92-9915-7533-8296-0a5be7d1c2f3',
              email: 'ann@example.org',
              firstName: 'Ann',
              lastName: null,
              phone: null,
              metadata: { town: 'Lagos' },
              unsubscribed: false,
              unsubscribedAt: null,
              suppressed: null,
              createdAt: '2026-11-20T10:00:00.000Z',
            },
          ],
          hasMore: false,
          nextCursor: null,
        },
      ),
    ],
    refusals: [
      refusal(
        'validation_error',
        'The cursor belongs to another segment',
        'The cursor does not belong to this list',
      ),
    ],
  }),
})

export const segments: Contract = {
  tag: {
    name: 'Segments',
    description:
      'Saved rules about people. Who is in one is kept up to date within seconds of a change, and counted.',
  },
  operations: [
    listSegments,
    createSegment,
    countSegment,
    getSegment,
    changeSegment,
    deleteSegment,
    listSegmentMembers,
  ],
  shapes: () => ({ Segment: closedOf(known) }),
}
