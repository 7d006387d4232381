import {
  answer,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
} from '../contract/index.js'
import { count, text, time, uuid } from '../fields/index.js'
import { exampleId, exampleTime } from './contract-parts.js'

const usual = 50

export const listEventNames = operation('GET /v1/events/names', {
  id: 'listEventNames',
  may: 'read',
  query: pageParams(usual, 100),
  says: () => ({
    summary: 'By what names events came',
    description:
      'They are counted within seconds, up to 1,000 names. A name that is written wrong shows by that nobody hears it.',
    answers: [
      answer(
        'In the order of their names',
        'EventNames',
        {
          names: manyOf({
            name: text('The name of the event'),
            count: count('How often it came'),
            lastAt: time('When it came last'),
            sample: {
              description: 'The payload of the last one; null where it is not kept any more',
            },
            heardBy: {
              ...manyOf({
                automationId: uuid('The automation'),
                name: text('What it is called'),
                how: text(
                  '`starts`: the event begins it; `waits`: a step waits for it; `ends`: it ends runs or is the goal',
                ),
              }),
              description: 'The enabled automations that it means something to',
            },
          }),
          ...pageFields,
        },
        {
          names: [
            {
              name: 'order.paid',
              count: 340,
              lastAt: exampleTime,
              sample: { total: 12 },
              heardBy: [{ automationId: exampleId, name: 'Welcome', how: 'waits' }],
            },
          ],
          hasMore: false,
          nextCursor: null,
        },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

/** Names on a page where the request does not say how many. */
export const usualNames = usual
