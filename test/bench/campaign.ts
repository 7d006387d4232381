/*
 * A campaign to a million contacts while the API takes mail:
 *   node dist/test/bench/campaign.js --contacts 1000000 --sends 100 --deliver 8000
 * First the expansion: from the request until the last mail is in the queue, single sends (scheduled
 * for tomorrow) at a fixed pace meanwhile, the time until the first mail is at the sink, the campaign's
 * endpoints with all its recipients. To be held: 60 s, RSS growth under 100 MB, p99 under 50 ms, 2 s,
 * 50 ms. Then, in a second appliance, a campaign with merge tags against batches of the same 10 KB mail
 * to the same sink, in turn: at least 0.8 of their rate.
 */
import { parseArgs } from 'node:util'
import { benchContent } from './content.js'
import { fillList, listDomains, openBeside } from './fill-list.js'
import {
  type Appliance,
  cpuSeconds,
  initDataDir,
  loadAverage,
  memoryMb,
  openSink,
  quantile,
  report,
  serveAppliance,
  sleep,
  untilArrived,
} from './rig.js'

const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    sends: { type: 'string', default: '100' },
    deliver: { type: 'string', default: '8000' },
  },
})
const sinkPort = 2_629
const html = `<h1>Dear {{ firstName | default: "reader" }}</h1>${benchContent().html}`
const sink = openSink('127.0.0.1', sinkPort)

if (Number(values.contacts) > 0) await expansion(Number(values.contacts), Number(values.sends))
if (Number(values.deliver) > 0) await delivery(Number(values.deliver))
process.exit(0)

async function expansion(contacts: number, perSecond: number): Promise<void> {
  const { dataDir, apiKey, accountId } = initDataDir()
  const listId = await fillList(dataDir, accountId, contacts)
  const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 20 })
  const { read, close } = await openBeside(dataDir)
  const ask = askOf(appliance)
  const pace = async (on: () => boolean) => {
    const took: number[] = []
    const pending: Promise<unknown>[] = []
    const began = performance.now()
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const mail = { from: 'a@example.test', to: 'r@d1.test', subject: 'x', html: '<p>x</p>' }
    for (let n = 0; on(); n++) {
      const due = began + (n * 1_000) / perSecond
      await sleep(Math.max(0, due - performance.now()))
      const sent = ask('POST', '/v1/emails/send', { ...mail, scheduledAt })
      pending.push(sent.then(() => took.push(performance.now() - due)))
    }
    await Promise.all(pending)
    return took
  }
  const until = performance.now() + 5_000
  const alone = await pace(() => performance.now() < until)

  const before = memoryMb(appliance.pid, 'VmRSS')
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryMb(appliance.pid, 'VmRSS'))
  }, 200)
  let expanding = true
  const during = pace(() => expanding)
  const sunk = sink.count()
  const began = performance.now()
  const campaign = { listId, from: 'News <news@example.test>', subject: 'News', html }
  const { id } = await ask('POST', '/v1/broadcasts', campaign)
  const answered = performance.now() - began
  while (sink.count() === sunk) await sleep(5)
  const first = performance.now() - began
  const expanded = read.selectFrom('broadcasts').select(['expanded', 'recipients'])
  while ((await expanded.executeTakeFirst())?.expanded !== 1) await sleep(100)
  const seconds = (performance.now() - began) / 1_000
  expanding = false
  clearInterval(watch)
  const took = await during
  const endpoint = async (path: string) => {
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const at = performance.now()
      await ask('GET', path)
      times.push(performance.now() - at)
    }
    return shown(times)
  }
  report([
    ['contacts, sends/s, load average', `${contacts}, ${perSecond}, ${loadAverage()}`],
    ['sends beside nothing, p50 / p99 / max', shown(alone)],
    ['answer to the campaign', `${answered.toFixed(0)} ms`],
    ['first mail at the sink', `${first.toFixed(0)} ms`],
    ['expanded', `${seconds.toFixed(1)} s, ${(contacts / seconds).toFixed(0)}/s`],
    ['sends meanwhile, p50 / p99 / max', shown(took)],
    ['mails at the sink meanwhile', `${((sink.count() - sunk) / seconds).toFixed(0)}/s`],
    [
      'RSS before, peak, growth',
      [before, peak, peak - before].map((mb) => `${mb.toFixed(0)} MB`).join(', '),
    ],
    ['detail, p50 / p99 / max', await endpoint(`/v1/broadcasts/${id}`)],
    ['list, p50 / p99 / max', await endpoint('/v1/broadcasts')],
  ])
  await close()
  appliance.process.kill('SIGKILL')
}

/** Campaign and batches in turn, three rounds. */
async function delivery(n: number): Promise<void> {
  const { dataDir, apiKey, accountId } = initDataDir()
  const listId = await fillList(dataDir, accountId, n)
  const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 20 })
  const ask = askOf(appliance)
  const ways = {
    batches: async () => {
      const emails = Array.from({ length: n }, (_, i) => ({
        from: 'a@example.test',
        to: `p${i}@d${i % listDomains}.test`,
        subject: 'News',
        html: html.replace('{{ firstName | default: "reader" }}', `First${i}`),
      }))
      const next = async (): Promise<void> => {
        const some = emails.splice(0, 50)
        if (some.length === 0) return
        await ask('POST', '/v1/emails/batch', { emails: some })
        await next()
      }
      await Promise.all(Array.from({ length: 8 }, next))
    },
    campaign: async () => {
      await ask('POST', '/v1/broadcasts', { listId, from: 'a@example.test', subject: 'News', html })
    },
  }
  const figures = { batches: [] as number[], campaign: [] as number[] }
  const cpu = { batches: [] as number[], campaign: [] as number[] }
  for (let round = 0; round < 3; round++) {
    for (const way of ['batches', 'campaign'] as const) {
      const before = sink.count()
      const used = cpuSeconds(appliance.pid)
      const began = performance.now()
      await ways[way]()
      await untilArrived(sink, before, n)
      figures[way].push(n / ((performance.now() - began) / 1_000))
      cpu[way].push(((cpuSeconds(appliance.pid) - used) * 1_000) / n)
      await sleep(500)
    }
  }
  const rate = (way: 'batches' | 'campaign') => quantile(figures[way], 0.5)
  const list = (numbers: readonly number[], digits: number) =>
    numbers.map((number) => number.toFixed(digits)).join(', ')
  report([
    ['mails, load average', `${n}, ${loadAverage()}`],
    ['batches, messages/s', list(figures.batches, 0)],
    ['campaign, messages/s', list(figures.campaign, 0)],
    ['ratio', (rate('campaign') / rate('batches')).toFixed(2)],
    ['batches, CPU s per 1,000', list(cpu.batches, 2)],
    ['campaign, CPU s per 1,000', list(cpu.campaign, 2)],
  ])
  await appliance.stop()
}

function askOf({ url, apiKey }: Appliance) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    return JSON.parse(text) as { id: string }
  }
}

function shown(times: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => `${quantile(times, share).toFixed(1)} ms`).join(' / ')
}
