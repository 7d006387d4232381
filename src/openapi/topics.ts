import { accountRefusals, ceiling } from './common.js'
import {
  closed,
  confirmation,
  count,
  type Description,
  refusal,
  shaped,
  text,
  time,
  uuid,
} from './describe.js'

const id = '01a1fc92-0000-7000-8000-5f0e1c2d3b4a'
const params = { id: 'The UUID of the topic' }
/** Unique whatever its case: recipients read the names in one list. */
const name = text('The name, which recipients see; unique within the account, whatever its case', {
  minLength: 1,
  maxLength: 60,
})
const description = text('What the topic is about, which recipients see', { maxLength: 200 })
/** Equal positions are sorted by name. */
const position = {
  type: 'integer',
  description: 'The place in the preference centre: lower numbers come first; default: 0',
}
/** `optedOut` is in the list alone (interface.md, Topic). */
const example = {
  id,
  name: 'Offers',
  description: 'Once a week at most',
  position: 0,
  archived: false,
  optedOut: 12,
  createdAt: '2026-11-21T10:00:00.000Z',
}
/** Also for a topic of another account. */
const noSuchTopic = refusal(
  'not_found',
  'The account has no such topic',
  'The account has no topic with this id',
)
/**
 * 409 (interface.md). An archived topic keeps its name, because its opt-outs would otherwise seem
 * to be of the new one.
 */
const taken = refusal(
  'conflict',
  'The name is taken, by an archived topic too',
  'There is a topic named "Offers" already',
)

export const topics: Description = {
  tag: {
    name: 'Topics',
    description:
      'Kinds of marketing mail that recipients leave one by one. Everybody gets all of them until they leave.',
  },
  schemas: {
    Topic: closed({
      id: uuid('The id of the topic, which never changes'),
      name,
      description,
      position: { type: 'integer', description: position.description },
      archived: {
        type: 'boolean',
        description: 'True: nothing can be sent on it, and the preference centre does not show it',
      },
      optedOut: count('How many recipients have left it'),
      createdAt: time('When the topic was made'),
    }),
    Topics: closed({ topics: { type: 'array', items: shaped('Topic') } }),
    NewTopic: { type: 'object', properties: { name, description, position }, required: ['name'] },
    // `archived` is a field as well as a DELETE: there has to be a way back, which DELETE has not.
    TopicChanges: {
      type: 'object',
      description: 'Fields that are not given stay as they are.',
      properties: {
        name,
        description,
        position: { type: 'integer', description: position.description },
        archived: { type: 'boolean', description: 'True archives the topic, false restores it' },
      },
    },
    TopicCreated: closed({
      id: uuid('The id of the topic, for `topicId`'),
      name,
      message: confirmation,
    }),
    TopicArchived: closed({ message: confirmation }),
    OptOuts: closed({
      topic: closed({ id: uuid('The id that the request named'), name }),
      optOuts: {
        type: 'array',
        maxItems: 500,
        items: closed({
          email: text('The address of the recipient'),
          name: {
            type: ['string', 'null'],
            description: "The contact's first and last name; null when it is not known",
          },
          optedOutAt: time('When the recipient left the topic'),
        }),
      },
    }),
  },
  operations: {
    'GET /v1/topics': {
      id: 'listTopics',
      summary: 'List the topics',
      query: {
        includeArchived: {
          type: 'boolean',
          default: false,
          description: 'Whether archived topics are listed too; `1` and `0` are understood as well',
        },
      },
      answers: [{ status: 200, when: 'Topics', shape: 'Topics', value: { topics: [example] } }],
      refusals: [],
    },
    'POST /v1/topics': {
      id: 'createTopic',
      summary: 'Make a topic',
      body: {
        shape: 'NewTopic',
        examples: [{ when: 'A topic', value: { name: 'Offers', description: 'Weekly' } }],
      },
      answers: [
        {
          status: 201,
          when: 'It was made',
          shape: 'TopicCreated',
          value: { id, name: 'Offers', message: 'Topic created' },
        },
      ],
      refusals: [taken, ...accountRefusals, ceiling('500 topics (archived ones count)', 'topics')],
    },
    'PATCH /v1/topics/:id': {
      id: 'updateTopic',
      summary: 'Change, archive or restore a topic',
      params,
      body: {
        shape: 'TopicChanges',
        examples: [{ when: 'It is restored', value: { archived: false } }],
      },
      answers: [{ status: 200, when: 'The whole topic', shape: 'Topic', value: example }],
      refusals: [noSuchTopic, taken],
    },
    'DELETE /v1/topics/:id': {
      id: 'archiveTopic',
      summary: 'Archive a topic',
      description: 'Who has left it stays known; PATCH restores it.',
      params,
      answers: [
        {
          status: 200,
          when: 'It is archived',
          shape: 'TopicArchived',
          value: { message: 'Topic archived; opt-outs are kept' },
        },
      ],
      refusals: [noSuchTopic],
    },
    'GET /v1/topics/:id/opt-outs': {
      id: 'listOptOuts',
      summary: 'Who has left a topic',
      description: 'The latest 500.',
      params,
      answers: [
        {
          status: 200,
          when: 'Most recent first',
          shape: 'OptOuts',
          value: {
            topic: { id, name: 'Offers' },
            optOuts: [
              {
                email: 'ann@example.org',
                name: 'Ann Obi',
                optedOutAt: '2026-11-21T10:00:00.000Z',
              },
            ],
          },
        },
      ],
      refusals: [noSuchTopic],
    },
  },
}
