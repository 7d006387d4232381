import { join } from 'node:path'
import t from 'tap'
import { applianceKeyFile } from '../../src/app/index.js'
import { systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { makeTrackingTokens } from '../../src/tracking/index.js'
import { initSandbox, serve } from '../support/process.js'
import { databaseIn, makeTempDir } from '../support/store.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('a kill -9 takes at most the hits of the last second', async (t) => {
  const dataDir = join(makeTempDir(t), 'data')
  const { apiKey, accountId } = initSandbox(dataDir)
  const posthorn = await serve(t, dataDir, {
    POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
    POSTHORN_OUTBOUND_THREADS: '1',
    POSTHORN_TRACKING_MACHINE_WITHIN: '0s',
  })
  const authorization = `Bearer ${apiKey}`
  const sent = await fetch(`${posthorn.url}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'a@example.test', to: 'b@one.test', subject: 'x', html: 'x' }),
  })
  const { id: emailId } = (await sent.json()) as { id: string }
  const opens = async () => {
    const answer = await fetch(`${posthorn.url}/v1/emails/${emailId}`, {
      headers: { authorization },
    })
    return ((await answer.json()) as { email: { opensCount: number } }).email.opensCount
  }
  const tokens = makeTrackingTokens(openApplianceKey(applianceKeyFile(dataDir)))
  const publicUrl = /"publicUrl":"([^"]+)"/.exec(posthorn.log())?.[1]
  const pixel = `${publicUrl}/o/${tokens.open({ accountId, emailId, deliveryId: 1 })}.gif`
  const look = async () => (await fetch(pixel)).arrayBuffer()
  for (let i = 0; i < 5; i++) await look()
  for (let waited = 0; (await opens()) < 5; waited += 20) {
    if (waited > 30_000) throw new Error('They are never written')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (let i = 0; i < 3; i++) await look()
  await posthorn.kill('SIGKILL')

  const store = await openStore({
    ...(await databaseIn(dataDir)),
    clock: systemClock,
    turns: makeTurns(),
    slot: 0,
  })
  t.teardown(() => store.close())
  const row = await store.read
    .selectFrom('emails')
    .select('opens')
    .where('id', '=', emailId)
    .executeTakeFirstOrThrow()
  t.ok(row.opens >= 5 && row.opens <= 8, `${row.opens} opens`)
  const events = await store.read
    .selectFrom('events')
    .select('at')
    .where('email_id', '=', emailId)
    .where('type', '=', 'opened')
    .execute()
  t.ok(events.length >= 1 && events.length <= row.opens, 'with their events')
})
