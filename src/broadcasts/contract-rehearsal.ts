import { answer, manyOf, operation, refusal } from '../contract/index.js'
import { closed, count, orNull, text, time } from '../fields/index.js'
import { campaignId, exampleId as id } from './contract-answers.js'
import { campaign } from './contract-course.js'
import { nobody } from './contract-refusals.js'

const gate = text('What mail waits for there, the longest', {
  enum: [
    'suspended',
    'connections',
    'warm-up',
    'rate',
    'hold',
    'brake',
    'pace',
    'deferred',
    'appliance',
  ],
})

const site = text('Where mail goes: a provider of shaping.toml, or the names of mail servers')

export const rehearseBroadcast = operation('POST /v1/broadcasts/:id/rehearse', {
  id: 'rehearseBroadcast',
  may: 'read',
  of: campaign,
  says: () => ({
    summary: 'When a campaign would be done, and what would hold it up',
    description:
      'Its audience by provider, with today’s shaping, the warm-up of the addresses, what was learned of each site and what waits already, runs through the code that sends mail, in a clock of its own and against receivers that answer as they usually do. Nothing is sent, and nothing is changed. Who cannot be reached is left out; of a large audience some of each stretch are looked at. In a sandbox it says how it goes there: all to the built-in inbox, with no warm-up, but for the simulator’s recipients.',
    answers: [
      answer(
        'As it stands now',
        'BroadcastRehearsal',
        {
          id: campaignId,
          recipientCount: count('How many recipients would get it now'),
          startsAt: time('When it begins: now, or at its time, or when the first clock shows it'),
          test: orNull({
            ...closed({
              recipients: count('How many recipients it goes to first'),
              chosenAt: orNull(
                time('When the version for the rest is chosen; null: when somebody does'),
              ),
            }),
            description: 'The part of the audience that versions are tried on; null: there is none',
          }),
          doneAt: orNull(
            time(
              'When the last of it would have ended, or of its test, where somebody chooses the version for the rest; null: not within 30 days',
            ),
          ),
          heldUp: orNull({
            ...closed({ site, gate, says: text('What that is, for people') }),
            description: 'What holds it up most: at the site that is done last',
          }),
          sites: manyOf({
            site,
            recipients: count('How many recipients are there, of those that it goes to'),
            mostlyDoneAt: orNull(time('When nine of ten of them would have it')),
            doneAt: orNull(time('When the last of them would; null: not within 30 days')),
            gate: orNull(gate),
            says: text('What that is, for people; empty where nothing holds it up'),
          }),
          alternatives: manyOf({
            startsAt: time('When it would begin'),
            pool: orNull(text('From which pool of addresses; null: from the usual one')),
            doneAt: orNull(time('When it would be done; null: not within 30 days')),
          }),
        },
        {
          id,
          recipientCount: 1_200,
          startsAt: '2026-12-24T18:00:00.000Z',
          test: null,
          doneAt: '2026-12-24T20:04:00.000Z',
          heldUp: {
            site: 'google',
            gate: 'rate',
            says: '6,000 messages a minute from each address',
          },
          sites: [
            {
              site: 'google',
              recipients: 1_200,
              mostlyDoneAt: '2026-12-24T19:50:00.000Z',
              doneAt: '2026-12-24T20:04:00.000Z',
              gate: 'rate',
              says: '6,000 messages a minute from each address',
            },
          ],
          alternatives: [
            {
              startsAt: '2026-12-24T19:00:00.000Z',
              pool: null,
              doneAt: '2026-12-24T21:04:00.000Z',
            },
          ],
        },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'It is on its way, or over',
        'Only a campaign that is a draft or scheduled can be rehearsed; this one is sent',
      ),
      nobody,
      refusal(
        'rate_limit_exceeded',
        'Too many rehearsals of the account wait',
        'Too many campaigns are being rehearsed; try again in a moment',
      ),
    ],
  }),
})
