import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  ceiling,
  closedOf,
  confirmation,
  manyOf,
  operation,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  flag,
  line,
  maybe,
  orNull,
  queryFlag,
  table,
  text,
  time,
  uuid,
  whole,
} from '../fields/index.js'

// How many opt-outs one answer has at most: the API reads them without pages.
export const maxOptOuts = 500

const topic = byId('topic')
const name = line(
  1,
  60,
  'The name, which recipients see; unique within the account, whatever its case',
)
const description = line(0, 200, 'What the topic is about, which recipients see')
// Topics with equal positions are sorted by name.
const position = whole('The place in the preference centre: lower numbers come first')

/** What people write of a topic. */
export const given = { name, description: maybe(description) }

const known = {
  id: uuid('The id of the topic, which never changes'),
  name,
  description,
  position,
  archived: flag('True: nothing can be sent on it, and the preference centre does not show it'),
  optedOut: count('How many recipients have left it'),
  createdAt: time('When the topic was made'),
}
const example = {
  id: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
  name: 'Offers',
  description: 'Once a week at most',
  position: 0,
  archived: false,
  optedOut: 12,
  createdAt: '2026-11-21T10:00:00.000Z',
}
// An archived topic keeps its name: otherwise its opt-outs would seem to belong to the new one.
const taken = () =>
  refusal(
    'conflict',
    'The name is taken, by an archived topic too',
    'There is a topic named "Offers" already',
  )

export const listTopics = operation('GET /v1/topics', {
  id: 'listTopics',
  may: 'read',
  query: {
    includeArchived: maybe(
      queryFlag('Whether archived topics are listed too; `1` and `0` are understood as well'),
    ),
  },
  says: () => ({
    summary: 'List the topics',
    answers: [answer('Topics', 'Topics', { topics: manyOf('Topic') }, { topics: [example] })],
  }),
})

export const createTopic = operation('POST /v1/topics', {
  id: 'createTopic',
  may: 'full',
  audit: 'topic.create',
  body: shape('NewTopic', table({ ...given, position: maybe(position, '0') })),
  says: () => ({
    summary: 'Make a topic',
    examples: { 'A topic': { name: 'Offers', description: 'Weekly' } },
    answers: [
      answer(
        'It was made',
        'TopicCreated',
        { id: uuid('The id of the topic, for `topicId`'), name, message: confirmation },
        { id: example.id, name: 'Offers', message: 'Topic created' },
        201,
      ),
    ],
    refusals: [taken(), ...accountRefusals, ceiling('500 topics (archived ones count)', 'topics')],
  }),
})

// `archived` is a field as well as a DELETE: there has to be a way back, which DELETE does not have.
export const updateTopic = operation('PATCH /v1/topics/:id', {
  id: 'updateTopic',
  may: 'full',
  audit: 'topic.change',
  of: topic,
  body: shape(
    'TopicChanges',
    table(
      {
        name: maybe(name),
        description: maybe(description),
        position: maybe(position),
        archived: maybe(flag('True archives the topic, false restores it')),
      },
      { about: 'Fields that are not given stay as they are.' },
    ),
  ),
  says: () => ({
    summary: 'Change, archive or restore a topic',
    examples: { 'It is restored': { archived: false } },
    answers: [answer('The whole topic', 'Topic', known, example)],
    refusals: [taken()],
  }),
})

export const archiveTopic = operation('DELETE /v1/topics/:id', {
  id: 'archiveTopic',
  may: 'full',
  audit: 'topic.archive',
  of: topic,
  says: () => ({
    summary: 'Archive a topic',
    description: 'Who has left it stays known; PATCH restores it.',
    answers: [
      answer(
        'It is archived',
        'TopicArchived',
        { message: confirmation },
        { message: 'Topic archived; opt-outs are kept' },
      ),
    ],
  }),
})

export const listOptOuts = operation('GET /v1/topics/:id/opt-outs', {
  id: 'listOptOuts',
  may: 'read',
  of: topic,
  says: () => ({
    summary: 'Who has left a topic',
    description: `The latest ${maxOptOuts}.`,
    answers: [
      answer(
        'Most recent first',
        'OptOuts',
        {
          topic: closedOf({ id: uuid('The id that the request named'), name }),
          optOuts: manyOf(
            {
              email: text('The address of the recipient'),
              name: orNull(text("The contact's first and last name; null when it is not known")),
              optedOutAt: time('When the recipient left the topic'),
            },
            maxOptOuts,
          ),
        },
        {
          topic: { id: example.id, name: 'Offers' },
          optOuts: [{ email: 'ann@example.org', name: 'Ann Obi', optedOutAt: example.createdAt }],
        },
      ),
    ],
  }),
})

export const topics: Contract = {
  tag: {
    name: 'Topics',
    description:
      'Kinds of marketing mail that recipients leave one by one. Everybody gets all of them until they leave.',
  },
  operations: [listTopics, createTopic, updateTopic, archiveTopic, listOptOuts],
}
