import type { Test } from 'tap'
import { Talk } from '../sandbox/talk.js'
import { type Posthorn, type PosthornOptions, startPosthorn } from './posthorn.js'

/** An appliance whose account receives at in.sender.test. */
export async function startReceiving(t: Test, options: PosthornOptions = {}): Promise<Posthorn> {
  // A DNS of the test's own, which knows of nobody.
  const posthorn = await startPosthorn(t, { dns: { '*': {} }, ...options })
  await receiveAt(posthorn, 'in.sender.test')
  return posthorn
}

export async function receiveAt(posthorn: Posthorn, host: string): Promise<void> {
  const { domains } = (await posthorn.call('GET', '/v1/domains')).json
  const body = { receivingHost: host }
  const { status } = await posthorn.call('PATCH', `/v1/domains/${domains[0].id}`, { body })
  if (status !== 200) throw new Error(`${status}`)
}

/** Adds a rule, which counts at once: hosts without a rule are not remembered. */
export async function addRule(posthorn: Posthorn, body: object) {
  const { status, json } = await posthorn.call('POST', '/v1/receiving/rules', { body })
  if (status !== 201) throw new Error(JSON.stringify(json))
  return json
}

/** Hands a mail in and resolves with the last reply. */
export async function giveMail(
  t: Test,
  port: number | undefined,
  to: string | string[],
  message: string | Buffer,
  { from = 'ann@example.test', address = '127.0.0.1' } = {},
): Promise<string> {
  const { talk: client } = await Talk.greeted(t, port ?? 0, address)
  await client.say('EHLO client.test')
  await client.say(`MAIL FROM:<${from}>`)
  for (const one of [to].flat()) {
    const reply = await client.say(`RCPT TO:<${one}>`)
    if (!reply.startsWith('250')) return reply
  }
  await client.say('DATA')
  client.write(typeof message === 'string' ? message.replace(/\r?\n/g, '\r\n') : message)
  const reply = await client.say('\r\n.')
  await client.say('QUIT')
  return reply
}

/** Asks until the answer is so. */
export async function when<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await ask()
    if (isSo(found)) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The account's mails that came in, the newest first, once there are so many and all are read. */
export async function whenRead(posthorn: Pick<Posthorn, 'call'>, count = 1) {
  for (;;) {
    const { received } = (await posthorn.call('GET', '/v1/received')).json
    const isRead = received.every(({ state }: { state: string }) => state !== 'reading')
    if (received.length >= count && isRead) {
      const all = received.map(({ id }: { id: string }) =>
        posthorn.call('GET', `/v1/received/${id}`),
      )
      return (await Promise.all(all)).map(({ json }) => json)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
