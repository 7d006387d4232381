import { signWebhook } from '../../src/webhooks/signature.js'

export const body = '{"event":"email.sent","subject":"Grüße, “7”"}'
export const [old, secret] = ['whsec_old', 'whsec_new']

export interface Vector {
  what: string
  header: string
  body: string
  good: boolean
}

/** What every verifier accepts from the holder of `secret`, and what none accepts; `at` in Unix seconds. */
export const webhookVectors = (at: number): Vector[] => [
  { what: 'signed', header: signWebhook([secret], at, body), body, good: true },
  { what: 'by one of two secrets', header: signWebhook([old, secret], at, body), body, good: true },
  { what: 'by another secret', header: signWebhook([old], at, body), body, good: false },
  { what: 'altered', header: signWebhook([secret], at, body), body: `${body} `, good: false },
  { what: 'old', header: signWebhook([secret], at - 400, body), body, good: false },
  { what: 'of the future', header: signWebhook([secret], at + 400, body), body, good: false },
]
