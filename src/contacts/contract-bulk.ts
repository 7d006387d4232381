import {
  accountRefusals,
  answer,
  byTask,
  invalidField,
  operation,
  refusal,
  shape,
  taskNumber,
} from '../contract/index.js'
import {
  bodyId,
  count,
  flag,
  line,
  maybe,
  oneOf,
  orNull,
  table,
  text,
  time,
  words,
} from '../fields/index.js'
import { bulkDeeds } from './bulk-task/order.js'
import { metadata } from './contract-parts.js'
import { contactStates } from './filters.js'

const taskOf = byTask()

const task = {
  id: text(taskNumber),
  do: { enum: bulkDeeds, description: 'What is done' },
  state: {
    enum: ['running', 'paused', 'stopped', 'done', 'failed'],
    description: 'Whether it is under way; it goes on by itself after a restart',
  },
  done: count('How many of those who fit have been dealt with'),
  total: count('How many fitted when it began; exact up to 20,000'),
  changed: count(
    'How many of them it has changed, or asked by mail; the others were so already, or could not be asked',
  ),
  reason: orNull(text('Why it has failed; null: it has not')),
  begunAt: time('When it began'),
  endedAt: orNull(time('When it ended; null: it has not')),
}
const example = {
  id: '12',
  do: 'add',
  state: 'running',
  done: 300,
  total: 1_200,
  changed: 280,
  reason: null,
  begunAt: '2026-11-21T10:00:00.000Z',
  endedAt: null,
}

export const changeContacts = operation('POST /v1/contacts/bulk', {
  id: 'changeContacts',
  may: 'full',
  audit: 'contact.bulk',
  body: shape(
    'BulkChange',
    table(
      {
        do: oneOf(
          bulkDeeds,
          '`add` to and `remove` from the list `target`, `set` the fields `metadata`, `unsubscribe` with the note of who asked for it, or `delete`',
        ),
        q: maybe(words('With whom: how the address, a name or the phone number begins')),
        list: maybe(bodyId('With whom: who is on this list')),
        segment: maybe(bodyId('With whom: who is in this segment')),
        state: maybe(oneOf(contactStates, 'With whom: who gets marketing mail, or why not')),
        all: maybe(flag('Whether it is for all contacts of the account: wanted without a filter')),
        target: maybe(bodyId('The list of `add` and `remove`')),
        metadata: maybe(metadata),
        note: maybe(line(1, 1_000, 'Who asked for it; of `add`: how they agreed')),
        trigger: maybe(flag('Of `add`: whether automations start for them')),
        confirm: maybe(
          flag(
            'Of `add`: true: they are asked by mail first, 200 an hour and 1,000 a day, and on the list once they have pressed its button. Not given: as the list says (`doubleOptIn`)',
          ),
        ),
      },
      {
        about:
          'What is done, and with whom: all of `q`, `list`, `segment` and `state` that are given fit.',
      },
    ),
  ),
  says: () => ({
    summary: 'Do something with all contacts that fit',
    description:
      'A task, of which an account may have ten: it goes on after a restart, and its page shows how far it is. Who becomes a contact after it began is left alone. Who is taken off their last list is deleted.',
    examples: {
      'Set a field': { do: 'set', q: 'ann', metadata: { town: 'Lagos' } },
    },
    answers: [answer('It has begun', 'BulkTask', task, example, 202)],
    refusals: [
      invalidField('It lacks what it needs', 'Choose the list', 'target'),
      refusal(
        'validation_error',
        'It has no filter and not `all`',
        'Give a filter, or all: true for every contact of the account',
        { status: 422 },
      ),
      refusal('not_found', 'A list is not there', 'The account has no contact list with this id'),
      refusal(
        'conflict',
        'Ten of them are under way',
        'Ten tasks with contacts are under way: wait for one, or stop it',
      ),
      ...accountRefusals,
    ],
  }),
})

export const getBulkTask = operation('GET /v1/contacts/bulk/:id', {
  id: 'getBulkTask',
  may: 'read',
  of: taskOf,
  says: () => ({
    summary: 'How far work with contacts is',
    answers: [answer('As it stands', 'BulkTask', task, example)],
  }),
})

export const stopBulkTask = operation('DELETE /v1/contacts/bulk/:id', {
  id: 'stopBulkTask',
  may: 'full',
  audit: 'contact.bulk_stop',
  of: taskOf,
  says: () => ({
    summary: 'Stop work with contacts',
    description: 'What is done stays done.',
    answers: [
      answer('It is stopped', 'BulkTask', task, {
        ...example,
        state: 'stopped',
        endedAt: '2026-11-21T10:00:05.000Z',
      }),
    ],
    refusals: [refusal('conflict', 'It has ended', 'The task is done and not running or paused')],
  }),
})

/** Those of work with all that fit. */
export const bulkOperations = [changeContacts, getBulkTask, stopBulkTask]
