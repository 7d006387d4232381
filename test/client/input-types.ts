import { isPosthornError, type Posthorn, type WebhookEvent } from '../../src/client/index.js'

/*
 * Nothing runs here: that it compiles is the test. What must not compile says so.
 */
const base = { from: 'a@b.test', to: 'c@d.test' }
const raw = { ...base, subject: 'S', html: '<p>H</p>' }

export async function emails({ emails }: Posthorn): Promise<void> {
  await emails.send(raw)
  await emails.send({ ...base, template: 'welcome', variables: { name: 'Ann' } })
  await emails.send({ ...raw, scheduledAt: new Date() })
  await emails.send({ ...raw, type: 'marketing', topicId: 'x' })
  // @ts-expect-error neither html nor template
  await emails.send(base)
  // @ts-expect-error both html and template
  await emails.send({ ...raw, template: 'welcome' })
  // @ts-expect-error html needs a subject
  await emails.send({ ...base, html: '<p>H</p>' })
  // @ts-expect-error a topic is for marketing mail
  await emails.send({ ...raw, topicId: 'x' })
  // @ts-expect-error a topic is for marketing mail
  await emails.send({ ...raw, type: 'transactional', topicId: 'x' })
  // @ts-expect-error no such field
  await emails.send({ from: 'a@b.test', to: 'c@d.test', subject: 'S', html: 'H', reply_to: 'x' })
  // @ts-expect-error no such type
  await emails.send({ ...raw, type: 'newsletter' })
  // @ts-expect-error to is needed
  await emails.send({ from: 'a@b.test', subject: 'S', html: 'H' })

  const { from, subject, html } = raw
  await emails.ussd({ from, subject, html, phoneNumber: '0803' })
  await emails.ussd({ from, subject, html, to: 'c@d.test' })
  // @ts-expect-error nobody to send it to
  await emails.ussd({ from, subject, html })
  // @ts-expect-error both a number and an address
  await emails.ussd({ from, subject, html, to: 'c@d.test', phoneNumber: '0803' })
}

export async function outputs(posthorn: Posthorn, event: WebhookEvent): Promise<string> {
  const email = await posthorn.emails.get('x')
  // A newer server may have a status that this client does not know.
  const status: string = email.status === 'delivered' ? 'there' : email.status
  // @ts-expect-error not iterated: a list is its first page
  await posthorn.contacts.list('x').then((page) => page.topics)
  for await (const run of posthorn.automations.runs('x')) if (run.email === null) return run.id
  if (event.event === 'email.bounced') return event.bounceReason
  // @ts-expect-error only bounces have a reason for sure
  const reason: string = event.bounceReason
  try {
    return status + reason
  } catch (error) {
    if (isPosthornError(error, 'daily_quota_exceeded') && 'resetsAt' in error.body) {
      return error.body.resetsAt
    }
    // @ts-expect-error no such code
    return isPosthornError(error, 'no_such_code') ? 'never' : 'other'
  }
}
