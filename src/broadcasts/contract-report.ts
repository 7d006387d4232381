import { answer, manyOf, operation } from '../contract/index.js'
import { closed, count, orNull, type Schema, shaped, text, time } from '../fields/index.js'
import { countedReasons } from '../preferences/index.js'
import { exampleFigures, figures } from '../stats/contract.js'
import {
  campaignId,
  exampleId,
  exampleItem,
  exampleVersions,
  versions,
} from './contract-answers.js'
import { campaign } from './contract-course.js'

const head = {
  id: campaignId,
  name: orNull(text('Its name; null when it has none')),
  subject: text('The subject as given, with its merge tags'),
  sentAt: orNull(time('When it was dispatched; null before')),
}
const rate = (about: string): Schema =>
  orNull({
    type: 'number',
    minimum: 0,
    description: `${about}; null where there is nothing to divide`,
  })

const unmeasured = closed({
  opens: orNull(
    text(
      'Why nobody knows who opened it: opens are not tracked, or its mail has no pixel. Its numbers of opens are then 0, which says nothing. Null: they are measured',
    ),
  ),
  clicks: orNull(text('The same of clicks')),
})

/** The answer of the report; every list is bounded. */
const report = {
  ...head,
  status: text('As `GET /v1/broadcasts/:id` has it, but for an account’s stop', {
    enum: ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled', 'failed'],
  }),
  endedAt: orNull(time('When its last mail had ended; null before')),
  upToDate: {
    type: 'boolean',
    description: 'False for a while after an update, until the log of before is counted',
  },
  progress: closed({
    recipients: count('How many mails were made; each is in one of the next'),
    waiting: count('How many have not ended'),
    delivered: count('How many the recipient’s server has taken'),
    relayed: count('How many a smart host has taken, which has told no more'),
    bounced: count('How many were refused for good'),
    failed: count('How many were given up'),
    suppressed: count('How many were not sent, as the recipient had left or bounced since'),
    cancelled: count('How many were cancelled'),
  }),
  leftOut: closed({
    unsubscribed: count(
      'How many of its audience got no mail when mails were made, as they had unsubscribed. Who: `who=left_out`. They are in no other number',
    ),
    bounced: count('The same of those whose address had bounced'),
    complained: count('The same of those who had complained'),
    suppressed: count('The same of those who were suppressed by hand, or erased and added again'),
    leftTopic: count('The same of those who had left the topic'),
  }),
  unmeasured,
  total: shaped('StatsFigures'),
  overTime: manyOf({
    at: time('When the hour begins, UTC; after the first eight days the day'),
    mails: count('Mails that were made'),
    delivered: count('Mails that servers and smart hosts have taken'),
    bounced: count('Mails that were refused'),
    deferred: count('How often a delivery was put off'),
    opened: count('Opens by people'),
    openedUnique: count('Mails that a person first opened then'),
    openedByMachines: count('Opens by machines'),
    clicked: count('Clicks by people'),
    clickedUnique: count('Mails in which a person first clicked then'),
    clickedByMachines: count('Clicks by machines'),
    unsubscribed: count('Recipients who left by it'),
    complained: count('Complaints, proved or not'),
  }),
  links: manyOf(
    {
      number: count('The number of the link, for `who=clicked&link=`'),
      url: text(
        'Where it leads, with … for addresses in it; `*`: all links beyond the first 200 that were clicked',
      ),
      people: count('How many contacts clicked it'),
      clicked: count('How often people clicked it'),
      clickedByMachines: count('How often machines did'),
    },
    201,
  ),
  providers: manyOf('BroadcastProvider', 61),
  reasons: manyOf({
    number: count('The number of the reason, for `who=unreached&reason=`'),
    kind: text('What became of the mails', { enum: ['bounced', 'failed', 'suppressed'] }),
    class: text('The class of the refusal, such as `bad-mailbox`'),
    words: text(
      'What servers said, with … for addresses and what differs; empty: several, beyond the first 100',
    ),
    count: count('How many mails'),
  }),
  whyLeft: manyOf(
    {
      reason: text('What they chose; `words`: nothing, but they wrote something', {
        enum: countedReasons,
      }),
      said: count('How many of those who left by it said so; nobody has to'),
    },
    countedReasons.length,
  ),
  ...versions,
  chosenWho: orNull(
    text(
      'Who chose the version for the rest by hand: a person, a key or an operator; null where nobody did, or the audit log has it no longer',
    ),
  ),
  compared: manyOf(
    {
      ...head,
      recipients: count('How many mails it had'),
      unmeasured,
      rates: closed({
        delivery: rate('Delivered of answered'),
        bounce: rate('Bounced of answered'),
        complaint: rate('Complaints of what was taken'),
        unsubscribe: rate('Who left, of what was taken'),
        open: rate('Opened by people, of what was taken'),
        click: rate('Clicked by people, of what was taken'),
      }),
    },
    10,
  ),
}

const ofProvider = { ...exampleFigures, mails: null, accepted: null }

/** The report's named shapes. */
export const reportShapes = (): Record<string, Schema> => ({
  BroadcastProvider: closed({
    provider: text(
      "The provider's name, or else the recipient's domain; `*`: all beyond the first 60",
    ),
    ...figures,
  }),
})

/** The report of the campaign of all examples. */
const exampleReport = {
  id: exampleId,
  name: exampleItem.name,
  subject: exampleItem.subject,
  sentAt: exampleItem.sentAt,
  status: 'sent',
  endedAt: '2026-11-21T10:20:00.000Z',
  upToDate: true,
  progress: {
    recipients: 1_014,
    waiting: 0,
    delivered: 999,
    relayed: 0,
    bounced: 10,
    failed: 1,
    suppressed: 4,
    cancelled: 0,
  },
  leftOut: { unsubscribed: 21, bounced: 3, complained: 0, suppressed: 1, leftTopic: 0 },
  unmeasured: { opens: null, clicks: null },
  total: ofProvider,
  overTime: [
    {
      at: '2026-11-21T10:00:00.000Z',
      mails: 1_014,
      delivered: 1_000,
      bounced: 10,
      deferred: 31,
      opened: 410,
      openedUnique: 300,
      openedByMachines: 120,
      clicked: 90,
      clickedUnique: 70,
      clickedByMachines: 40,
      unsubscribed: 3,
      complained: 1,
    },
  ],
  links: [
    {
      number: 1,
      url: 'https://example.com/week-47',
      people: 70,
      clicked: 90,
      clickedByMachines: 40,
    },
  ],
  providers: [{ provider: 'Google', ...ofProvider }],
  reasons: [
    {
      number: 1,
      kind: 'bounced',
      class: 'bad-mailbox',
      words: '550 5.1.1 The email account … does not exist',
      count: 8,
    },
  ],
  whyLeft: [{ reason: 'too_many', said: 2 }],
  ...exampleVersions,
  chosenWho: null,
  compared: [
    {
      id: '01a1d8aa-1c10-7533-8296-04ee3d91dd71',
      name: 'Week 46',
      subject: 'Last week',
      sentAt: '2026-11-14T10:00:00.000Z',
      recipients: 1_180,
      unmeasured: { opens: null, clicks: null },
      rates: exampleFigures.rates,
    },
  ],
}

export const getBroadcastReport = operation('GET /v1/broadcasts/:id/report', {
  id: 'getBroadcastReport',
  may: 'read',
  of: campaign,
  says: () => ({
    summary: 'The report of a campaign',
    description:
      'What people and machines did with it, over time, by link and by provider, and why mail did not arrive. Counted as it happens, some seconds later at most, and kept when mails and events are deleted.',
    answers: [answer('As it stands now', 'BroadcastReport', report, exampleReport)],
  }),
})
