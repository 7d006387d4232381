import { Worker } from 'node:worker_threads'
import { type Config, listenOf } from '../config/index.js'
import { probePort } from '../http/index.js'
import { entryOf, type StartedThreadsOptions } from './started-threads.js'
import type { ThreadData, ThreadReport } from './thread-data.js'
import { kinds, writeSlots } from './thread-roster.js'

/**
 * What a held start can try of its threads and SMTP listeners without taking or sending anything: each thread loads its
 * code and opens the database, and each port can be listened at. Throws the fault that it finds.
 */
export async function rehearse({
  config,
  dataDir,
  plans,
  agents,
  publicUrl,
  turns,
  backlog,
}: Pick<
  StartedThreadsOptions,
  'config' | 'dataDir' | 'plans' | 'agents' | 'publicUrl' | 'turns' | 'backlog'
>): Promise<void> {
  for (const { host, port } of smtpListeners(config)) if (port !== 0) await probePort(host, port)
  const workerData: ThreadData = {
    config,
    dataDir,
    plans,
    agents: agents(),
    publicUrl,
    turns,
    backlog,
    // Nobody has this slot yet: before `complete` the only thread beside the main one is that of HTTPS.
    slot: writeSlots.checkpoint,
    index: 0,
    isRehearsal: true,
  }
  for (const name of rehearsed(config)) {
    const worker = new Worker(entryOf(name), { workerData, name })
    let isReady = false
    worker.on('message', (report: ThreadReport) => {
      isReady ||= report.kind === 'ready'
    })
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject)
      worker.once('exit', () =>
        isReady ? resolve() : reject(new Error(`The thread ${name} ended before it was ready`)),
      )
    })
  }
}

/** One of each kind, but for HTTPS, which works already. */
const rehearsed = ({ outbound }: Config) =>
  kinds.filter((kind) => kind !== 'https' && (kind !== 'sandbox' || outbound.route === 'sandbox'))

/** Listeners whose ports have to be free for the start to succeed. */
function smtpListeners({ inbound, submission }: Config) {
  const { starttls, tls, plain } = submission
  const places = submission.enabled ? [starttls, tls, plain.listen].map(listenOf) : []
  return [...(inbound.enabled ? [inbound] : []), ...places.filter((place) => place !== undefined)]
}
