import { boolean, enums, optional, type } from 'superstruct'
import {
  Attachments,
  Content,
  emailStatuses,
  Headers,
  Recipient,
  ReplyTo,
  ScheduledAt,
  Sender,
  Tags,
} from '../emails/index.js'
import { atLeastOne, BodyId, described, QueryInteger, rule, Uuid } from '../fields/index.js'

/*
 * What requests about campaigns look like. Every rule says in its message what it expects.
 */
export const BroadcastParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no campaign with this id',
}

export const maxPage = 500
export const usualPage = 100
// interface.md, Limits.
export const maxSubject = 200
export const maxName = 200

/** The cursor is judged with its list (`store/cursor.ts`); here only its type. */
export const BroadcastsQuery = type({
  limit: optional(QueryInteger(1, maxPage)),
  cursor: optional(
    rule<string>('the nextCursor of an earlier answer', (value) => typeof value === 'string'),
  ),
})

/** Statuses are those of mails, as each recipient of a campaign has one. */
export const RecipientsQuery = type({
  ...BroadcastsQuery.schema,
  status: optional(described(enums(emailStatuses), emailStatuses.join(', '))),
})

export const PreviewBody = type({ listId: BodyId, topicId: optional(BodyId) })

/**
 * Fields of the contract, and ours that a single mail has too. Kept apart from `BroadcastBody`,
 * because the test send has the same ones and another recipient.
 */
const campaign = {
  listId: BodyId,
  from: Sender,
  subject: line(maxSubject),
  html: Content(1),
  topicId: optional(BodyId),
  name: optional(line(maxName)),
  replyTo: optional(ReplyTo),
  headers: optional(Headers),
  tags: optional(Tags),
  scheduledAt: optional(ScheduledAt),
  attachments: optional(Attachments),
}

/**
 * A draft is not in the contract's request, so it is asked for by a field and never the default.
 */
export const BroadcastBody = type({
  ...campaign,
  draft: optional(described(boolean(), 'true or false')),
})

/** Null means absent in every body, so what is taken away from a draft is empty. */
export const ChangesBody = atLeastOne(
  type({
    listId: optional(BodyId),
    from: optional(Sender),
    subject: optional(line(maxSubject)),
    html: optional(Content(1)),
    topicId: optional(BodyId),
    name: optional(line(maxName, 0)),
    replyTo: optional(ReplyTo),
    headers: optional(Headers),
    tags: optional(Tags),
    scheduledAt: optional(ScheduledAt),
    attachments: optional(Attachments),
  }),
)

/** interface.md: the body of a campaign plus `to`. */
export const TestBody = type({
  ...campaign,
  to: Recipient,
})

/** Counted in code points and not in UTF-16 units: 200 characters are 200 for an emoji too. */
function line(most: number, least: 0 | 1 = 1) {
  return rule<string>(
    `a string of ${least} to ${most} characters without control characters`,
    (value) =>
      typeof value === 'string' &&
      (value.trim() !== '' || (least === 0 && value === '')) &&
      [...value].length <= most &&
      // mta.md §4.1: none of them reaches a header. Half of a surrogate pair is no character.
      !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(value),
  )
}
