import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

t.setTimeout(thoroughly(180_000, 900_000))

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// What is due within a minute happens within two, however the clock is moved.
const withinMs = 120_000

/** A server of webhooks that fails with the first one about each mail whose subject says so. */
async function openReceiver(t: Test) {
  const told = new Map<string, number>()
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => {
      const id: string = JSON.parse(text).emailId
      told.set(id, (told.get(id) ?? 0) + 1)
      response.writeHead(told.get(id) === 1 ? 500 : 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { told, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

async function openMoved(t: Test) {
  const dataDir = join(makeTempDir(t), 'data')
  const { apiKey } = initSandbox(dataDir)
  const file = join(dataDir, '..', 'moved')
  const move = (ms: number) => {
    writeFileSync(`${file}.new`, String(ms))
    renameSync(`${file}.new`, file)
  }
  move(0)
  const env = { POSTHORN_TEST_CLOCK: file, POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '0' }
  const preload = new URL('../support/moved-clock.js', import.meta.url).href
  const appliance = await serve(t, dataDir, env, ['--import', preload])
  // biome-ignore lint/suspicious/noExplicitAny: an answer has no type before it was looked at
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const response = await fetch(`${appliance.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const json = await response.json()
    // A busy machine is slow to start the thread that renders.
    if (response.status === 503) return await call(method, path, body)
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(json)}`)
    return json
  }
  const until = async (what: string, isSo: () => Promise<boolean>) => {
    const began = performance.now()
    while (!(await isSo())) {
      const tookMs = performance.now() - began
      if (tookMs > withinMs) throw new Error(`Waited in vain: ${what}\n${appliance.log()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  return { move, call, until }
}

const moves = [
  ['two months', 60 * dayMs],
  ['a day', dayMs],
  ['an hour', hourMs],
] as const

for (const [name, aheadMs] of moves.slice(0, thoroughly(1, 3))) {
  t.test(
    `what is due happens while a clock is ahead by ${name}, and when it is set back`,
    async (t) => {
      const { told, url } = await openReceiver(t)
      const { move, call, until } = await openMoved(t)
      await call('POST', '/webhooks', { url, events: ['email.delivered'] })
      await call('POST', '/templates', { slug: 'hello', subject: 'Hello', html: '<p>Hello</p>' })
      const steps = [
        { key: 'start', type: 'trigger', config: { eventName: 'go' } },
        { key: 'wait', type: 'delay', config: { duration: 'PT1S' } },
        {
          key: 'mail',
          type: 'send_email',
          config: { template: 'hello', from: 'us@example.test', type: 'transactional' },
        },
      ]
      const connections = [
        { from: 'start', to: 'wait', type: 'default' },
        { from: 'wait', to: 'mail', type: 'default' },
      ]
      const { id } = await call('POST', '/automations', { name: 'Go', steps, connections })
      await call('POST', `/automations/${id}/enable`)
      const send = async (to: string): Promise<string> =>
        (
          await call('POST', '/emails/send', {
            from: 'us@example.test',
            to,
            subject: 'Hi',
            html: '<p>Hi</p>',
          })
        ).id
      const email = async (mail: string) => (await call('GET', `/emails/${mail}`)).email
      const isDelivered = async (mail: string) => (await email(mail)).status === 'delivered'
      const tries = async (mail: string) => (await email(mail)).recipients[0].attempts
      const begin = async (contact: string): Promise<string> =>
        (await call('POST', '/events/send', { event: 'go', email: contact })).automations[0].runId
      const hasEnded = async (run: string) =>
        (await call('GET', `/automations/runs/${run}`)).status === 'completed'
      // Some mail all the time, as clocks are set while there is something to do.
      const load: string[] = []
      let isLoaded = true
      t.teardown(() => {
        isLoaded = false
      })
      const loading = (async () => {
        while (isLoaded) {
          load.push(await send(`load${load.length}@a.test`))
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      })()

      // In seconds: nothing may have to be looked at twice while the clock is ahead, to be noticed.
      for (const [turn, toMs] of [aheadMs, 0].entries()) {
        const putOff = await send('deferred@simulator.posthorn.test')
        await until('the first attempt', async () => (await tries(putOff)) === 1)
        const run = await begin(`ann${turn}@a.test`)
        const before = await send('bob@a.test')
        await until('a webhook that failed', async () => told.has(before))
        move(toMs)
        const after = await send('cid@a.test')
        await until('a mail of now', async () => await isDelivered(after))
        await until('its webhook', async () => (told.get(after) ?? 0) > 1)
        await until('the webhook that is tried again', async () => (told.get(before) ?? 0) > 1)
        await until('the step after a delay', async () => await hasEnded(run))
        const isPutBack = toMs === 0
        if (isPutBack) await until('the second attempt', async () => (await tries(putOff)) > 1)
      }
      isLoaded = false
      await loading
      for (const mail of load) await until('all of the load', async () => await isDelivered(mail))
      t.pass(`${load.length} mails beside`)
    },
  )
}
