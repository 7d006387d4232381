import { answer, closedOf, manyOf, operation } from '../contract/index.js'
import { count, orNull, text, time } from '../fields/index.js'

const counter = (of: string) => ({
  used: count(`How many ${of} there are`),
  limit: orNull(count('How many the plan allows; null: any number')),
  left: orNull(count('How many more there may be; null: any number')),
})
const resetsAt = time('When it is counted anew')

export const getReceivingUsage = operation('GET /v1/receiving/usage', {
  id: 'getReceivingUsage',
  may: 'read',
  says: () => ({
    summary: 'What of the plan mail that comes in has used',
    description:
      'Days and hours are those of UTC. What is over a bound is refused at RCPT, and tried again by its sender.',
    answers: [
      answer(
        'What is used and left',
        'ReceivingUsage',
        {
          hour: closedOf({ ...counter('mails of this hour'), resetsAt }),
          day: closedOf({ ...counter('mails of this day'), resetsAt }),
          storage: closedOf(counter('stored bytes, those of mail that is sent among them')),
          largestMib: count('How large a mail that comes in may be, in MiB'),
          keptDays: count('For how many days it is kept'),
          refused: manyOf({
            why: text(
              '`hour`, `day`: so many came in; `network`: one network has had its half of that; `size`: it was larger than `largestMib`; `storage`: that is full',
            ),
            mails: count('How many mails, or addresses of one, were refused today'),
            firstAt: time('When the first of these was'),
            lastAt: time('When the last one was'),
            words: text('The same in words, which may change'),
          }),
        },
        {
          hour: { used: 12, limit: null, left: null, resetsAt: '2026-11-21T13:00:00.000Z' },
          day: { used: 100, limit: 100, left: 0, resetsAt: '2026-11-22T00:00:00.000Z' },
          storage: { used: 120_400, limit: null, left: null },
          largestMib: 20,
          keptDays: 7,
          refused: [
            {
              why: 'day',
              mails: 3,
              firstAt: '2026-11-21T12:10:00.000Z',
              lastAt: '2026-11-21T12:40:00.000Z',
              words: 'the plan’s limit of mails that come in within a day is reached',
            },
          ],
        },
      ),
    ],
  }),
})
