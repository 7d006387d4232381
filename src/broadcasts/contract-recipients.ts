import {
  answer,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
} from '../contract/index.js'
import { emailStatuses } from '../emails/index.js'
import { maybe, oneOf, orNull, queryWhole, text, uuid, words } from '../fields/index.js'
import { countedReasons } from '../preferences/index.js'
import { exampleDetail, exampleId, recipientFields } from './contract-answers.js'
import { campaign } from './contract-course.js'
import { versionParts, whoNames } from './report-people.js'

/** Which recipients a page asks for, by a number of the report. */
const whoParams = () => ({
  who: maybe(
    oneOf(
      whoNames,
      'Only the people behind this number of the report. `unreached`: bounced, failed or suppressed; `left`: unsubscribed, or left the topic, by this mail; `delivered`, `not_opened` and `not_clicked` are of mail that a server or a smart host has taken, where who clicked a link counts as having opened it (`not_opened` is refused where opens were not measured, as `unmeasured` of the report says), `sent` of that and of what was refused or given up, `made` of all. `not_sent` are those of the audience, as it is now, to whom a cancelled rest never went out, `left_out` those of it who got no mail when mails were made',
    ),
  ),
  link: maybe(queryWhole(1, 1_000, 'With `who=clicked`: only who clicked the link of this number')),
  reason: maybe(
    queryWhole(
      1,
      10_000,
      'With `who=unreached`: only whose mail failed for the reason of this number',
    ),
  ),
  why: maybe(oneOf(countedReasons, 'With `who=left`: only who said this')),
  provider: maybe(
    words(
      'With `who`: only at this mailbox provider, as the report names it (`*`: at those that it does not name). Known as long as the mails are kept',
    ),
  ),
  variant: maybe(
    words(
      'With `who`: only who got the version with this key. Known as long as the mails are kept',
    ),
  ),
  part: maybe(
    oneOf(
      versionParts,
      'With `variant`: only those on whom it was tried, or only those who got it as the rest',
    ),
  ),
})

// Ours beside the contract, whose detail shows only the first 1,000 recipients.
export const listBroadcastRecipients = operation('GET /v1/broadcasts/:id/recipients', {
  id: 'listBroadcastRecipients',
  may: 'read',
  of: campaign,
  // The statuses are those of mails, as each recipient of a campaign has one.
  query: {
    status: maybe(oneOf(emailStatuses, 'Only recipients whose mail has this status')),
    ...whoParams(),
    ...pageParams(),
  },
  says: () => ({
    summary: 'The recipients of a campaign',
    description:
      'A page of one status, or of `who`, may have fewer than `limit`, or none, and yet `hasMore`: go on by `nextCursor`. `who` asks for the people behind a number of the report; of opens, clicks and reasons they are told as long as the campaign is, also when its mails are deleted, and who is no contact any more is not among them.',
    answers: [
      answer(
        'In the order in which their mails were made',
        'BroadcastRecipients',
        {
          recipients: manyOf({
            emailId: orNull(
              uuid(
                'The id of the mail; null with `who=not_sent` and `who=left_out`, where there is none',
              ),
            ),
            ...recipientFields,
            reason: orNull(
              text('Why the mail did not arrive, in the words of the server or ours; null else'),
            ),
            whyLeft: orNull(
              text('Of `who=left`: why they left, where they said it', { enum: countedReasons }),
            ),
            words: orNull(text('What they wrote last about that')),
          }),
          ...pageFields,
        },
        {
          recipients: [
            {
              emailId: exampleId,
              ...exampleDetail.recipients[0],
              reason: null,
              whyLeft: null,
              words: null,
            },
          ],
          hasMore: false,
          nextCursor: null,
        },
      ),
    ],
    refusals: [
      foreignCursor,
      refusal(
        'validation_error',
        'Both `status` and `who` are given',
        'Ask by "status" or by "who", not by both',
      ),
    ],
  }),
})
