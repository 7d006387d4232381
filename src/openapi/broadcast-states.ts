import { refusal } from '../contract/index.js'
import { capReached, nobody, noSuchCampaign } from './broadcast-refusals.js'
import type { Description } from './description.js'
import { marketingRefusals, senderRefusals, sendingRefusals } from './email-refusals.js'

export const id = '01a1fc92-9915-7533-8296-04ee3d91dd72'
export const params = { id: 'The UUID of the campaign' }
/** Create without a time and the sending of a draft answer alike. */
export const isSending = {
  status: 200,
  when: 'It is being sent',
  shape: 'BroadcastSending',
  value: { id, status: 'sending', recipientCount: 1_200 },
}
/**
 * `estimatedRecipients`, and not `recipientCount`: the list is looked at again when it is
 * dispatched (interface.md).
 */
export const isScheduled = {
  status: 200,
  when: 'It is scheduled',
  shape: 'BroadcastScheduled',
  value: {
    id,
    status: 'scheduled',
    scheduledAt: '2026-12-24T18:00:00.000Z',
    estimatedRecipients: 1_200,
  },
}

/** What takes a campaign from one state to another: send, pause, resume, cancel. */
export const broadcastStates: Description['operations'] = {
  'POST /v1/broadcasts/:id/send': {
    id: 'sendBroadcast',
    summary: 'Send a draft',
    description: 'At its `scheduledAt`, if that is still to come; else at once.',
    params,
    answers: [isSending, isScheduled],
    refusals: [
      noSuchCampaign,
      refusal(
        'conflict',
        'It is not a draft (any more)',
        'Only a draft can be sent; this campaign is sent',
      ),
      nobody,
      capReached,
      ...senderRefusals.filter(({ code }) => code === 'domain_not_verified'),
      ...marketingRefusals,
      ...sendingRefusals,
    ],
  },
  'POST /v1/broadcasts/:id/pause': {
    id: 'pauseBroadcast',
    summary: 'Pause a campaign',
    description:
      'One that is scheduled or sending: no more mails of it are made, and none leaves but those that are being sent at this moment. The answer comes when all that waits is held: of a very large campaign after some seconds. A request that was cut off is finished by itself, and may be repeated.',
    params,
    answers: [
      {
        status: 200,
        when: 'It is paused',
        shape: 'BroadcastPaused',
        value: { id, status: 'paused', message: 'Campaign paused' },
      },
    ],
    refusals: [
      noSuchCampaign,
      refusal(
        'conflict',
        'It cannot be paused in its state, or the operator has paused it',
        'A campaign that is sent cannot be paused',
      ),
    ],
  },
  'POST /v1/broadcasts/:id/resume': {
    id: 'resumeBroadcast',
    summary: 'Let a campaign go on that you have paused',
    description:
      'What was to be dispatched meanwhile is dispatched at once. A pause by the operator is the operator’s to end: `pausedBy` tells whose it is.',
    params,
    answers: [
      {
        status: 200,
        when: 'It goes on within 30 seconds',
        shape: 'BroadcastResumed',
        value: { id, message: 'The campaign goes on' },
      },
    ],
    refusals: [
      noSuchCampaign,
      refusal(
        'conflict',
        'It is not paused, or by the operator, or its topic is archived',
        'The operator has paused the campaign, and only the operator resumes it',
      ),
    ],
  },
  'POST /v1/broadcasts/:id/cancel': {
    id: 'cancelBroadcast',
    summary: 'Cancel a draft or a scheduled campaign',
    params,
    answers: [
      {
        status: 200,
        when: 'It is cancelled',
        shape: 'BroadcastCancelled',
        value: { id, status: 'cancelled', message: 'Campaign cancelled' },
      },
    ],
    refusals: [
      noSuchCampaign,
      refusal(
        'conflict',
        'It is sending, or has ended',
        'The campaign is sending and cannot be cancelled',
      ),
    ],
  },
}
