import { refusal } from '../contract/index.js'
import {
  attachmentRefusals,
  badCampaignTime,
  foreignFields,
  marketingRefusals,
  refusedHeader,
  senderRefusals,
  sendingRefusals,
} from '../emails/contract.js'
import { count, orNull, text } from '../fields/index.js'

/* The reasons why a campaign is refused. */
export const noSuchList = refusal(
  'not_found',
  'No such list or topic',
  'The account has no contact list with this id',
)
/** 409 and not 404: the topic exists, and only its state prevents sending. */
export const archived = refusal(
  'conflict',
  'The topic is archived',
  'The topic "Offers" is archived; restore it to send on it',
)
/** interface.md lists this among the 400s, although the request itself is well formed. */
export const nobody = refusal(
  'validation_error',
  'Nobody is reachable',
  'Nobody on the list can be reached: the list is empty, or all its contacts are suppressed or have left the topic',
)
/**
 * 402 `plan_limit_exceeded`, with numbers that a client can show without parsing the sentence. Only
 * the free marketing tier has such a cap.
 */
export const capReached = refusal(
  'plan_limit_exceeded',
  'The marketing plan allows no more campaign mails this month',
  '1800 of 2000 campaign mails of this month are used',
  {
    status: 402,
    shape: 'CampaignCap',
    fields: {
      limit: count('How many campaign mails the plan allows in a month'),
      used: count('How many of them are used'),
      plan: text('The name of the marketing plan'),
    },
    example: { limit: 2_000, used: 1_800, plan: 'Marketing Free' },
  },
)
/**
 * Found before anything is queued: otherwise a campaign that fails for each of a million recipients
 * would be noticed much later.
 */
const doesNotRender = refusal(
  'validation_error',
  'The content does not render',
  'The campaign has a syntax error: the tag {{ firstName has no end; write }} after it (html, line 1, column 7)',
  {
    status: 422,
    shape: 'BadContent',
    fields: {
      part: orNull(
        text('The part that is wrong, `subject`, `html` or `previewText`; null: all of it'),
      ),
      line: count('The line of that part, from 1'),
      column: count('The column of that line, from 1'),
      field: text(
        'The field that is wrong, such as `subject`; of blocks, in place of line and column, the text: `blocks.3.text`',
      ),
    },
    optional: ['line', 'column', 'field'],
    example: { part: 'html', line: 1, column: 7, field: 'html' },
  },
)

/** The refusals of a campaign's content, audience and sender. */
export const contentRefusals = [
  ...senderRefusals,
  badCampaignTime,
  refusedHeader,
  foreignFields,
  ...attachmentRefusals,
  ...marketingRefusals,
  noSuchList,
  archived,
  doesNotRender,
  ...sendingRefusals,
]
