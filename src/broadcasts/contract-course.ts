import { answer, byId, confirmation, operation, refusal } from '../contract/index.js'
import { marketingRefusals, senderRefusals, sendingRefusals } from '../emails/contract.js'
import { count, text, textThat, time } from '../fields/index.js'
import { campaignId, exampleId as id } from './contract-answers.js'
import { capReached, nobody } from './contract-refusals.js'

/** The parameters of paths. */
export const campaign = {
  ...byId('campaign'),
  when: 'The account has no campaign with this id',
}

const estimated = count('How many recipients would get it now')

/** Creating one without a time and sending a draft have the same answer. */
export const isSending = () =>
  answer(
    'It is being sent',
    'BroadcastSending',
    {
      id: campaignId,
      status: { const: 'sending' },
      recipientCount: count('How many recipients it has'),
    },
    { id, status: 'sending', recipientCount: 1_200 },
  )

/** `estimatedRecipients`, not `recipientCount`: the list is looked at again at dispatch (interface.md). */
export const isScheduled = () =>
  answer(
    'It is scheduled',
    'BroadcastScheduled',
    {
      id: campaignId,
      status: { const: 'scheduled' },
      scheduledAt: time('When it will be dispatched'),
      estimatedRecipients: estimated,
    },
    {
      id,
      status: 'scheduled',
      scheduledAt: '2026-12-24T18:00:00.000Z',
      estimatedRecipients: 1_200,
    },
  )

/** The draft is kept until its own endpoint sends it. */
export const isDraft = () =>
  answer(
    'It is a draft',
    'BroadcastDraft',
    { id: campaignId, status: { const: 'draft' }, estimatedRecipients: estimated },
    { id, status: 'draft', estimatedRecipients: 1_200 },
  )

export const duplicateBroadcast = operation('POST /v1/broadcasts/:id/duplicate', {
  id: 'duplicateBroadcast',
  may: 'full',
  audit: 'broadcast.duplicate',
  of: campaign,
  says: () => ({
    summary: 'Copy a campaign into a draft',
    description:
      'Its content, sender and audience, in whatever state it is, with its files; not its time.',
    answers: [isDraft()],
    refusals: [
      refusal(
        'not_found',
        'A list or segment of its audience is gone',
        'The account has no contact list with this id',
      ),
      ...senderRefusals.filter(({ code }) => code === 'domain_not_verified'),
      ...marketingRefusals,
      ...sendingRefusals,
    ],
  }),
})

export const sendBroadcast = operation('POST /v1/broadcasts/:id/send', {
  id: 'sendBroadcast',
  may: 'full',
  audit: 'broadcast.send',
  of: campaign,
  says: () => ({
    summary: 'Send a draft',
    description: 'At its `scheduledAt`, if that is still to come; else at once.',
    answers: [isSending(), isScheduled()],
    refusals: [
      refusal(
        'conflict',
        'It is not a draft (any more)',
        'Only a draft can be sent; this campaign is sent',
      ),
      refusal(
        'forbidden',
        'It is a notice, which an owner sends in the dashboard',
        'A notice that everybody must get is sent by an owner of the account, in the dashboard',
      ),
      nobody,
      capReached,
      ...senderRefusals.filter(({ code }) => code === 'domain_not_verified'),
      ...marketingRefusals,
      ...sendingRefusals,
    ],
  }),
})

export const pauseBroadcast = operation('POST /v1/broadcasts/:id/pause', {
  id: 'pauseBroadcast',
  may: 'full',
  audit: 'broadcast.pause',
  of: campaign,
  says: () => ({
    summary: 'Pause a campaign',
    description:
      'One that is scheduled or sending: no more mails of it are made, and none leaves but those that are being sent at this moment. The answer comes when all that waits is held: of a very large campaign after some seconds. A request that was cut off is finished by itself, and may be repeated.',
    answers: [
      answer(
        'It is paused',
        'BroadcastPaused',
        { id: campaignId, status: { const: 'paused' }, message: confirmation },
        { id, status: 'paused', message: 'Campaign paused' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'It cannot be paused in its state, or the operator has paused it',
        'A campaign that is sent cannot be paused',
      ),
    ],
  }),
})

export const resumeBroadcast = operation('POST /v1/broadcasts/:id/resume', {
  id: 'resumeBroadcast',
  may: 'full',
  audit: 'broadcast.resume',
  of: campaign,
  says: () => ({
    summary: 'Let a campaign go on that you have paused',
    description:
      'What was to be dispatched meanwhile is dispatched at once. A pause by the operator is the operator’s to end: `pausedBy` tells whose it is.',
    answers: [
      answer(
        'It goes on within 30 seconds',
        'BroadcastResumed',
        { id: campaignId, message: confirmation },
        { id, message: 'The campaign goes on' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'It is not paused, or by the operator, or its topic is archived',
        'The operator has paused the campaign, and only the operator resumes it',
      ),
    ],
  }),
})

const variantKey = 'The key of the version'

export const chooseBroadcastVariant = operation('POST /v1/broadcasts/:id/variants/:key/choose', {
  id: 'chooseBroadcastVariant',
  may: 'full',
  audit: 'broadcast.choose',
  of: {
    params: {
      ...campaign.params,
      key: textThat('a key', (given) => given.length <= 8, text(variantKey, { examples: ['B'] })),
    },
    about: { ...campaign.about, key: text(variantKey, { examples: ['B'] }) },
    notFound: 'The campaign has no version with this key',
    when: campaign.when,
  },
  says: () => ({
    summary: 'Choose the version that the rest gets',
    description:
      'Of a campaign whose test is made, before or in place of the decision by its figures. It is chosen once.',
    answers: [
      answer(
        'It goes to the rest within 30 seconds',
        'BroadcastVariantChosen',
        { id: campaignId, chosen: text('The key of the version'), message: confirmation },
        { id, chosen: 'B', message: 'Version B goes to the rest' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'Its test is not made yet, a version was chosen already, or it is over',
        'Version B was chosen already, and goes to the rest',
      ),
    ],
  }),
})

export const takeBackBroadcast = operation('POST /v1/broadcasts/:id/take-back', {
  id: 'takeBackBroadcast',
  may: 'full',
  audit: 'broadcast.take-back',
  of: campaign,
  says: () => ({
    summary: 'Make a scheduled campaign a draft again',
    description:
      'One of which nothing was made yet, also one that you have paused or whose list is gone. It can be changed then, and sent anew.',
    answers: [
      answer(
        'It is a draft',
        'BroadcastTakenBack',
        { id: campaignId, status: { const: 'draft' }, message: confirmation },
        { id, status: 'draft', message: 'The campaign is a draft again' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'It has begun, is a draft already, or is paused by the operator',
        'A campaign that is sending cannot be taken back',
      ),
    ],
  }),
})

const isCancelled = () =>
  answer(
    'It is cancelled',
    'BroadcastCancelled',
    { id: campaignId, status: { const: 'cancelled' }, message: confirmation },
    { id, status: 'cancelled', message: 'Campaign cancelled' },
  )

export const cancelBroadcast = operation('POST /v1/broadcasts/:id/cancel', {
  id: 'cancelBroadcast',
  may: 'full',
  audit: 'broadcast.cancel',
  of: campaign,
  says: () => ({
    summary: 'Cancel a draft or a scheduled campaign',
    answers: [isCancelled()],
    refusals: [
      refusal(
        'conflict',
        'It is sending, or has ended',
        'The campaign is sending and cannot be cancelled, but the rest of it can',
      ),
    ],
  }),
})

export const cancelRestOfBroadcast = operation('POST /v1/broadcasts/:id/cancel-rest', {
  id: 'cancelRestOfBroadcast',
  may: 'full',
  audit: 'broadcast.cancel-rest',
  of: campaign,
  says: () => ({
    summary: 'Cancel what has not left of a campaign',
    description:
      'Also of one that is sending or paused: mails that wait never leave, but for those that are being sent at this moment, and none is made any more. The answer comes when all of them follow.',
    answers: [isCancelled()],
    refusals: [refusal('conflict', 'It has ended', 'The campaign has already been sent')],
  }),
})
