/*
 * What attachments cost: `node dist/test/bench/attachments.js [--seconds 4] [--recipients 1000]
 *     [--rounds 3] [--cpu-prof directory]`; 0 seconds or recipients leave that part out
 *   accept: batches of 100 mails of 10 KB without, and with a file of 100 KB that all of them carry (given
 *           once, or by each of them), in turn in one run; scheduled for tomorrow, so that nothing leaves
 *   memory: a mail with a file of 1 MiB to that many recipients, delivered to Postfix's smtp-sink: the most
 *           that the appliance grows over what it had after a run of the same without
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { freePort } from '../support/free-port.js'
import { type Appliance, initDataDir, openSink, serveAppliance } from './rig.js'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    recipients: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    'cpu-prof': { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const recipients = Number(values.recipients)
const sinkPort = await freePort()
const from = 'Bench <bench@example.test>'
const rounds = Number(values.rounds)
const profile = values['cpu-prof']
const nodeArgs = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]

const { dataDir, apiKey } = initDataDir()
const sink = openSink('127.0.0.1', sinkPort)
const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 20, nodeArgs })
try {
  if (seconds > 0) await accept(appliance)
  if (recipients > 0) await memory(appliance)
} finally {
  await appliance.stop()
  sink.process.kill()
}

async function accept({ post }: Appliance): Promise<void> {
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const content = 'word '.repeat(1_020)
  const mails = Array.from({ length: 100 }, (_, i) => ({
    from,
    to: `r${i}@d${i % 20}.test`,
    subject: `Mail ${i}`,
    scheduledAt,
    html: `<p>${content}</p>`,
    text: content,
  }))
  const attachments = [{ filename: 'terms.pdf', content: randomBytes(100_000).toString('base64') }]
  const bodies = {
    without: { emails: mails },
    'given once': { emails: mails, attachments },
    'given by each': { emails: mails.map((mail) => ({ ...mail, attachments })) },
  }
  const rates = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    for (const [name, body] of Object.entries(bodies)) {
      const bytes = Buffer.from(JSON.stringify(body))
      const began = performance.now()
      let batches = 0
      const client = async () => {
        for (; performance.now() - began < seconds * 1_000; batches++) {
          await post('/v1/emails/batch', bytes)
        }
      }
      await Promise.all(Array.from({ length: 4 }, client))
      const rate = (batches * 100) / ((performance.now() - began) / 1_000)
      rates.set(name, [...(rates.get(name) ?? []), rate])
    }
  }
  const median = (name: string) => rates.get(name)?.sort((a, b) => a - b)[rounds >> 1] ?? 0
  for (const name of Object.keys(bodies)) {
    const ratio = (median(name) / median('without')).toFixed(2)
    line(`accepted, 100 KB ${name}`, `${median(name).toFixed(0)} mails/s, ratio ${ratio}`)
  }
}

async function memory({ pid, post }: Appliance): Promise<void> {
  const send = async (attachments: object[]) => {
    const before = sink.count()
    const emails = Array.from({ length: recipients }, (_, i) => ({
      from,
      to: `r${i}@sink.test`,
      subject: 'File',
      html: '<p>See the file</p>',
    }))
    for (let i = 0; i < recipients; i += 100) {
      await post('/v1/emails/batch', { emails: emails.slice(i, i + 100), attachments })
    }
    let most = 0
    const began = performance.now()
    while (sink.count() < before + recipients) {
      if (performance.now() - began > 300_000) throw new Error('They do not arrive')
      most = Math.max(most, rssMb(pid))
      await sleep(50)
    }
    return { most, seconds: (performance.now() - began) / 1_000 }
  }
  await send([])
  const plain = await send([])
  const file = { filename: 'film.bin', content: randomBytes(1024 * 1024).toString('base64') }
  const attached = await send([file])
  line(`1 MiB to ${recipients}: growth of memory`, `${(attached.most - plain.most).toFixed(0)} MB`)
  line('  most without, most with', `${plain.most.toFixed(0)} MB, ${attached.most.toFixed(0)} MB`)
  line('  delivered', `${(recipients / attached.seconds).toFixed(0)} mails/s`)
  const db = new Database(databaseFile(dataDir), { readonly: true })
  const copies = db
    .prepare('select count(*) from contents where size_bytes = 1048576')
    .pluck()
    .get()
  line('  copies stored', String(copies))
  db.close()
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

function line(name: string, value: string): void {
  console.log(`${name.padEnd(44)} ${value}`)
}
