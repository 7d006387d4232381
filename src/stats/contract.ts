import { answer, type Contract, operation, refusal } from '../contract/index.js'
import {
  closed,
  count,
  maybe,
  oneOf,
  orNull,
  pathId,
  queryFlag,
  queryWhole,
  shaped,
  text,
  uuid,
  words,
} from '../fields/index.js'
import { maxLimit } from './question.js'

// `format: date` is RFC 3339's full-date: a day of UTC, without a time.
const day = (about: string) => text(about, { format: 'date', examples: ['2026-11-21'] })
const rate = (about: string) =>
  orNull({
    type: 'number',
    description: `${about}, or by itself where that is less: reports, opens and clicks come later, maybe of mail of the days before. Null where both are 0`,
  })

/** The fields of figures; each group has all of them. */
// `null` says that a figure is not kept for this group; zero says that nothing happened. By provider, acceptance is
// null: at that moment nobody knows where a domain's mail goes.
export const figures = {
  mails: orNull(
    count('Accepted mails, on the day of acceptance; null where figures are of a provider'),
  ),
  accepted: orNull(
    count(
      'Recipients of accepted mails, on the day of acceptance; null where figures are of a provider, which is known only later',
    ),
  ),
  suppressed: count(
    'Recipients who were not mailed because they were on the suppression list, at acceptance or later',
  ),
  answered: count(
    'Recipients whose server has decided for the first time: delivered, relayed or bounced',
  ),
  delivered: count(
    'Recipients whose server has taken the mail, or whose mail was reported to have arrived',
  ),
  relayed: count('Recipients whose mail a smart host has taken'),
  bouncedHard: count(
    'Recipients who were refused for good, at once or by a report after the delivery',
  ),
  bouncedSoft: count('Recipients who were refused for a reason that may pass'),
  failed: count(
    'Recipients who were given up: no server has decided in time, or the mail could not be sent',
  ),
  deferred: count('How often delivery to a recipient was put off'),
  complained: count('Complaints of which it is proved that a feedback loop sent them'),
  complainedUnproved: count('Complaints of which that is not proved'),
  unsubscribed: count(
    'Recipients who left all marketing mail, or a topic, by a mail: once by each mail',
  ),
  opened: count(
    'Opens by people: one for each event `opened`. A mail’s `opensCount` also counts what has no event: the same request twice in a millisecond, and more than 30 of one copy in an hour',
  ),
  openedUnique: count('Mails, on the day when a person first opened them'),
  openedByMachines: count('Opens by machines: prefetching, filters'),
  clicked: count('Clicks by people'),
  clickedUnique: count('Mails, on the day when a person first clicked in them'),
  clickedByMachines: count('Clicks by machines'),
  rates: closed({
    delivery: rate('`delivered` divided by `answered`'),
    bounce: rate('`bouncedHard` and `bouncedSoft`, divided by `answered`'),
    complaint: rate('`complained` divided by `delivered` and `relayed`'),
    unsubscribe: rate('`unsubscribed` divided by `delivered` and `relayed`'),
    open: rate('`openedUnique` divided by `delivered` and `relayed`'),
    click: rate('`clickedUnique` divided by `delivered` and `relayed`'),
  }),
}

/** Figures of the examples, which fit together: the rates are what these counts give. */
export const exampleFigures = {
  mails: 1000,
  accepted: 1020,
  suppressed: 4,
  answered: 1010,
  delivered: 1000,
  relayed: 0,
  bouncedHard: 8,
  bouncedSoft: 2,
  failed: 1,
  deferred: 31,
  complained: 1,
  complainedUnproved: 0,
  unsubscribed: 3,
  opened: 410,
  openedUnique: 300,
  openedByMachines: 120,
  clicked: 90,
  clickedUnique: 70,
  clickedByMachines: 40,
  rates: {
    delivery: 0.990099,
    bounce: 0.009901,
    complaint: 0.001,
    unsubscribe: 0.003,
    open: 0.3,
    click: 0.07,
  },
}

const kinds = ['transactional', 'marketing'] as const
const dayField = (about: string) =>
  maybe(words(about, { format: 'date', examples: ['2026-11-21'] }))

/** The fields of a question. */
export const questionFields = {
  // Days and not times: figures are kept by the day, long after the events that they count are deleted.
  from: dayField('The first day; default: 29 days before `to`'),
  to: dayField('The last day, included; default: today'),
  groupBy: maybe(
    words('One or two of `day`, `domain`, `provider`, `tag`, `broadcast`, `type`, with a comma', {
      default: 'day',
      examples: ['day,domain'],
    }),
  ),
  domain: maybe(words('Only mail from this sending domain')),
  provider: maybe(words('Only recipients at this provider, as an answer names it')),
  tag: maybe(
    words('Only mail with this tag, `name:value`, or `name` for any value of it', {
      examples: ['plan:pro'],
    }),
  ),
  broadcastId: maybe(pathId('Only mail of this campaign')),
  type: maybe(oneOf(kinds, 'Only mail of this type')),
  test: maybe(queryFlag('Figures of the mail of test keys, which is in no others')),
  limit: maybe(
    queryWhole(1, maxLimit, 'How many groups beside the days; the rest is together in `other`', 20),
  ),
}

export const getStats = operation('GET /v1/stats', {
  id: 'getStats',
  may: 'inbox',
  query: questionFields,
  says: () => ({
    summary: 'Figures over time',
    description:
      'Every figure counts on the day, UTC, when it happened: a bounce that comes a day after the delivery is one of the next day, and what was delivered stays delivered. So a rate of one day may be above 1. `provider`, `tag` and `broadcast` are kept apart from each other and cannot be asked for together. A mail with several tags is in several groups, and one without is in `total` alone. A key of the scope `test` is told of test mail; where it is limited to several domains it has to name one by `domain`.',
    answers: [
      answer(
        'By day and domain',
        'Stats',
        {
          from: day('The first day, UTC'),
          to: day('The last day, UTC, included'),
          groupBy: {
            type: 'array',
            items: {
              type: 'string',
              enum: ['day', 'domain', 'provider', 'tag', 'broadcast', 'type'],
            },
            description: 'What the groups are made by, as the request asked',
          },
          upToDate: {
            type: 'boolean',
            description: 'False for a while after an update, until the log of before is counted',
          },
          total: shaped('StatsFigures'),
          groups: {
            type: 'array',
            items: shaped('StatsGroup'),
            description: 'The groups: by day, then the largest first; `other` after them',
          },
        },
        {
          from: '2026-11-21',
          to: '2026-11-21',
          groupBy: ['day', 'domain'],
          upToDate: true,
          total: exampleFigures,
          groups: [{ day: '2026-11-21', domain: 'example.com', other: false, ...exampleFigures }],
        },
      ),
    ],
    refusals: [
      refused(
        'A day is not in the calendar',
        '`from` is not a day of the calendar; expected one such as 2026-11-21',
      ),
      refused(
        'The range is too long',
        'From `from` to `to` are 400 days; at most 366 can be asked for',
      ),
      refused(
        'Figures that are not kept together',
        'Figures are not kept by provider and tag together: ask for one of them at a time',
      ),
    ],
  }),
})

const refused = (when: string, error: string) => refusal('validation_error', when, error)

/** Figures are kept as counts for each day, which outlive the events from which they were counted. */
export const stats: Contract = {
  tag: { name: 'Stats', description: 'Figures over time, kept when the events are gone.' },
  operations: [getStats],
  shapes: () => ({
    StatsFigures: closed(figures),
    StatsGroup: closed(
      {
        day: day('The day, UTC'),
        domain: orNull(
          text('The sending domain; null for mail that was deleted before it was counted'),
        ),
        provider: orNull(
          text("The name of the recipient's mailbox provider, or else the recipient's domain"),
        ),
        tag: orNull(
          closed({ name: text('The name of the tag'), value: text('The value of the tag') }),
        ),
        broadcastId: orNull(uuid('The campaign; null for mail of no campaign')),
        type: orNull({ type: 'string', enum: ['transactional', 'marketing'] }),
        other: {
          type: 'boolean',
          description:
            'True: all groups beyond `limit` together; but for the day, what it is grouped by is null',
        },
        ...figures,
      },
      // Optional: a group has the fields that were asked for in `groupBy`, and null there is a group of its own.
      ['day', 'domain', 'provider', 'tag', 'broadcastId', 'type'],
    ),
  }),
}
