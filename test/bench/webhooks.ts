/*
 * 20,000 webhooks to ten endpoints on loopback, one of them dead and one that takes 5 s:
 * `node dist/test/bench/webhooks.js --events 20000`
 * To be held: the eight healthy ones are done at 1,000 webhooks a second or more.
 * The receivers are a thread of their own; jobs are queued before the clock starts.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

if (isMainThread) await bench()
else receive()

/** Ports: eight that answer, one that never does, one that takes its time. */
function receive(): void {
  const ports = Array.from({ length: 10 }, async (_, index) => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        if (index < 8) response.end()
        if (index === 9) setTimeout(() => response.end(), 5_000)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  })
  void Promise.all(ports).then((all) => parentPort?.postMessage(all))
}

async function bench(): Promise<void> {
  const { values } = parseArgs({ options: { events: { type: 'string', default: '20000' } } })
  const total = Number(values.events)
  const { webhookRig } = await import('../support/webhooks.js')
  const closing: (() => unknown)[] = []
  const test = { teardown: (close: () => unknown) => closing.unshift(close), passing: () => true }
  const rig = await webhookRig(test as unknown as Parameters<typeof webhookRig>[0])
  const worker = new Worker(new URL(import.meta.url))
  try {
    const ports = await new Promise<number[]>((resolve) => worker.once('message', resolve))
    const endpoints: string[] = []
    for (const port of ports) {
      endpoints.push((await rig.endpoint(`http://127.0.0.1:${port}/`, ['email.delivered'])).id)
    }
    const queuedAt = performance.now()
    for (let i = 0; i < total / ports.length; i++) await rig.land(await rig.mail(), 'delivered')
    const queueMs = performance.now() - queuedAt
    const healthy = endpoints.slice(0, 8)
    const left = async () => {
      const row = await rig.store.read
        .selectFrom('webhook_jobs')
        .select(({ fn }) => fn.countAll<number>().as('left'))
        .where('endpoint_id', 'in', healthy)
        .executeTakeFirstOrThrow()
      return row.left
    }
    const count = await left()
    const startedAt = performance.now()
    await rig.courier()
    while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const seconds = (performance.now() - startedAt) / 1_000
    console.log(
      JSON.stringify({
        queuedPerSecond: Math.round((total / queueMs) * 1_000),
        healthy: count,
        seconds: Number(seconds.toFixed(2)),
        perSecond: Math.round(count / seconds),
        rssMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
      }),
    )
  } finally {
    for (const close of closing) await close()
    await worker.terminate()
  }
}
