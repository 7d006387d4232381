import { accountRefusals, inexactNumber, pastDue, refusal } from '../contract/index.js'
import { closed, count, text } from '../fields/index.js'
import type { Description } from './description.js'

const contactId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4c'
const event = { event: 'user.signup', email: 'ann@example.org', payload: { plan: 'pro' } }
/**
 * Both answers that one event can have for a contact, side by side: a run that began, and one that
 * was already under way (interface.md, Automation: reported with `started: false`, not as an
 * error).
 */
const accepted = {
  event: 'user.signup',
  contactId,
  contactCreated: true,
  started: 1,
  resumed: 0,
  automations: [
    {
      automationId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
      name: 'Welcome',
      started: true,
      runId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4b',
    },
  ],
}
/**
 * A contact of another account is not found either; the contract wants no difference that would
 * tell ids of others.
 */
const noSuchContact = refusal(
  'not_found',
  'The account has no contact with this id',
  'The account has no contact with this id',
)
/**
 * An event for an unknown address makes a contact, so it can run into the plan's ceiling like an
 * import.
 */
const tooManyContacts = refusal(
  'plan_limit_exceeded',
  'The address is unknown and the plan holds no more contacts',
  'The plan allows 500 contacts; choose a larger marketing plan, or delete some',
)
/** Of two contradicting ids none is taken: to guess would mail the wrong person. */
const differ = refusal(
  'validation_error',
  '`contactId` and `email` name different contacts',
  'contactId and email name different contacts',
  { status: 422 },
)
/**
 * All or nothing, as for a batch of mails, so that a repeat of the request cannot start some runs
 * twice.
 */
const invalidEvents = refusal(
  'validation_error',
  'Some events are wrong; nothing was taken in',
  '1 of 2 events are invalid; none of them was taken in',
  {
    status: 422,
    shape: 'InvalidEvents',
    fields: {
      errors: {
        type: 'array',
        items: closed({
          index: count('The place of the event in `events`, from 0'),
          error: text('What is wrong with it'),
        }),
      },
    },
    example: { errors: [{ index: 1, error: 'The account has no contact with this id' }] },
  },
)

/** What contacts did, which starts runs and lets them go on. */
export const automationEvents: Description['operations'] = {
  'POST /v1/events/send': {
    id: 'sendEvent',
    summary: 'Tell what a contact did',
    description:
      'Wakes the runs that wait for the event, and starts the enabled automations that begin with it. A contact who is under way in one gets no second run of it. Unknown fields are ignored, but those by which other APIs call `payload` and `occurredAt` (`properties`, `data`, `timestamp`) are refused, and the answer says what to write.',
    body: { shape: 'NewEvent', examples: [{ when: 'A sign-up', value: event }] },
    answers: [{ status: 202, when: 'It is taken in', shape: 'EventAccepted', value: accepted }],
    refusals: [
      noSuchContact,
      differ,
      inexactNumber('payload.order'),
      tooManyContacts,
      pastDue,
      ...accountRefusals,
    ],
  },
  'POST /v1/events/batch': {
    id: 'sendEvents',
    summary: 'Tell what contacts did, 100 events at a time',
    description: 'All events are taken in, in their order, or none.',
    body: { shape: 'NewEvents', examples: [{ when: 'A sign-up', value: { events: [event] } }] },
    answers: [
      {
        status: 202,
        when: 'They are taken in',
        shape: 'EventsAccepted',
        value: { accepted: 1, results: [accepted] },
      },
    ],
    refusals: [invalidEvents, ...accountRefusals],
  },
}
