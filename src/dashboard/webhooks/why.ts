import type { WebhookCause } from '../../store/index.js'
import type { WebhookDelivery } from '../../webhooks/index.js'
import { plural } from '../format.js'

/** Why a webhook did not arrive and what to do, by the last answer; undefined for one that arrived. */
export function whyNot({
  outcome,
  status,
  error,
  cause,
  attempts,
}: Pick<WebhookDelivery, 'outcome' | 'status' | 'error' | 'cause' | 'attempts'>):
  | string
  | undefined {
  if (outcome === 'delivered' || (status === null && error === null)) return undefined
  if (outcome === 'dropped') {
    const when =
      attempts === 0 ? 'before the first attempt' : `after ${plural(attempts, 'attempt')}`
    return `It was set aside ${when}. A replay sends it once the webhook is enabled.`
  }
  if (status !== null) return byStatus(status)
  return (cause === null ? undefined : byCause[cause]) ?? noAnswer
}

// RFC 9110 §15: what a status says about whoever answered with it.
function byStatus(status: number): string {
  if (status >= 300 && status < 400) {
    return 'Your server leads elsewhere, and redirects are not followed. Set the URL that it leads to.'
  }
  // Most such receivers verify a body that was parsed and written again, so its bytes differ.
  if (status === 401 || status === 403) {
    return 'Your server refuses the request. Does it verify the signature with the secret of this endpoint, and over the bytes of the body as they came?'
  }
  if (status === 404 || status === 410) {
    return 'There is nothing at this path of your server. Look at the path of the URL.'
  }
  if (status === 405) return 'Your server takes no POST at this path.'
  if (status === 408 || status === 429) {
    return 'Your server has too much to do. Let it take a webhook into a queue and answer at once.'
  }
  if (status < 500) return 'Your server refuses what is sent. Its answer may say why.'
  return 'Your server failed. Look into its log at this time; the answer may say why.'
}

const byCause: Readonly<Partial<Record<WebhookCause, string>>> = {
  timeout:
    'Your server took longer than 10 s. Let it answer with 200 first, and do the work afterwards.',
  forbidden:
    'Nothing may be sent to such an address, unless the operator of this appliance allows it.',
  certificate:
    'The certificate of your server is not accepted: it has to be valid for the name in the URL, with its whole chain.',
  refused: 'Nothing listens at this address and port of your server.',
  closed: 'Your server closed the connection before it answered. A proxy or firewall may do that.',
  'no-host': 'The name in the URL is not found in the DNS.',
  unreachable: 'Your server cannot be reached: a firewall may drop what comes from this appliance.',
}

const noAnswer = 'No answer came from your server. The error below says what happened.'
