import { configFile } from '../app/files.js'
import { simulatorDomain } from '../simulator/index.js'
import { suppressionsOf } from '../suppression/index.js'
import { withStore } from './database.js'
import { say } from './output.js'

/** What this step needs of the quickstart: the sender, and how to ask the appliance. */
export interface Returns {
  dataDir: string
  accountId: string
  domain: string
  ask<T>(path: string, init?: RequestInit): Promise<T>
  poll<T>(failure: string, look: () => Promise<T | undefined>): Promise<T>
}

/** The used part of the API's answer. */
interface Email {
  status: string
  recipients: { reply: string | null }[]
}

/** A recipient who does not exist, and one who complains: what follows, up to the suppression list. */
export async function showReturns(returns: Returns): Promise<void> {
  // A new address each time: an earlier quickstart's is suppressed by now.
  const tag = Date.now().toString(36)
  const bounced = `bounced+${tag}@${simulatorDomain}`
  const complained = `complained+${tag}@${simulatorDomain}`
  const bounce = await ended(returns, bounced, 'bounced')
  say(`   ${bounced}`)
  say(`   bounced: ${bounce}`)
  await ended(returns, complained, 'delivered')
  say(`   ${complained}`)
  say('   delivered; the complaint comes back by SMTP, as feedback loops send it')
  for (const [address, reason] of [
    [bounced, 'bounce'],
    [complained, 'complaint'],
  ] as const) {
    await suppressed(returns, address, reason)
    const { email } = await sendTo(returns, address)
    say(`   the next mail to it is ${email.status}, for its ${reason}`)
  }
}

/** Sent through the API and read back at once, as a client would do it. */
async function sendTo({ ask, domain }: Returns, to: string): Promise<{ id: string; email: Email }> {
  const mail = { from: `hello@${domain}`, to, subject: 'Hello', html: '<p>Hello</p>' }
  const { id } = await ask<{ id: string }>('/v1/emails/send', {
    method: 'POST',
    body: JSON.stringify(mail),
  })
  return { id, ...(await ask<{ email: Email }>(`/v1/emails/${id}`)) }
}

/** Sends a mail and waits for its end; resolves with what the receiving server said. */
async function ended(returns: Returns, to: string, status: string): Promise<string> {
  const { id } = await sendTo(returns, to)
  return returns.poll(`the mail to ${to} was not ${status}`, async () => {
    const { email } = await returns.ask<{ email: Email }>(`/v1/emails/${id}`)
    return email.status === status ? (email.recipients[0]?.reply ?? '') : undefined
  })
}

/** Waits for the record, as `posthorn suppression list` shows it. */
function suppressed(returns: Returns, address: string, reason: string): Promise<true> {
  const { dataDir } = returns
  const place = { dataDir, configFile: configFile(dataDir), configNamed: false, json: false }
  return withStore(place, ({ store: { read } }) =>
    returns.poll(`${address} was not suppressed`, async () => {
      const records = await suppressionsOf(read, returns.accountId, address)
      return records.some((record) => record.reason === reason) ? true : undefined
    }),
  )
}
