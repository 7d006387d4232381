import { Worker } from 'node:worker_threads'
import { type Config, listenOf } from '../config/index.js'
import { probePort } from '../http/index.js'
import type { ThreadData, ThreadReport } from './thread-data.js'

/**
 * What a start that is held can try of its threads and SMTP listeners without taking or sending anything: each
 * thread loads its code and opens the database, each port can be listened at. Throws what is found wrong.
 */
export async function rehearse(
  threads: readonly { name: string; entry: URL; data: ThreadData }[],
  config: Config,
): Promise<void> {
  for (const { host, port } of smtpListeners(config)) if (port !== 0) await probePort(host, port)
  for (const { name, entry, data } of threads) {
    const worker = new Worker(entry, { workerData: { ...data, isRehearsal: true }, name })
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

/** Those whose ports have to be free for the start to succeed. */
function smtpListeners({ inbound, submission }: Config) {
  const { starttls, tls, plain } = submission
  const places = submission.enabled ? [starttls, tls, plain.listen].map(listenOf) : []
  return [...(inbound.enabled ? [inbound] : []), ...places.filter((place) => place !== undefined)]
}
