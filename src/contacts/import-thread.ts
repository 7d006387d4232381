import { once } from 'node:events'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Clock, systemClock } from '../clock/index.js'
import { databaseAt } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import { type OnFault, openStore } from '../store/index.js'
import type { ContactEffect } from './contact.js'
import { importContacts } from './import.js'
import type { FromThread, ImporterOptions, ImportJob, ToThread } from './importer.js'
import type { ContactDeps } from './list.js'
import { fromRefusal, toRefusal } from './refusal.js'

/** What the thread needs to write. */
type ThreadDeps = ContactDeps & { follow: ContactEffect }

/** The thread of `openImporter`: runs the imports that it is given until it is told to stop. */
export async function serveImports(
  onFault: OnFault,
  makeFollow: (clock: Clock, config: ImporterOptions['config']) => ContactEffect,
): Promise<void> {
  if (parentPort === null) throw new Error('import is a worker thread, not a program')
  const port = parentPort
  const { config, dataDir, turns, slot } = workerData as Omit<ImporterOptions, 'log'>
  const deps = {
    store: await openStore({
      ...databaseAt(dataDir, config.store),
      clock: systemClock,
      turns,
      slot,
      onFault,
      background: true,
    }),
    clock: systemClock,
    follow: makeFollow(systemClock, config),
  }
  const running = new Set<Promise<void>>()
  port.on('message', async (message: { port: MessagePort; job: ImportJob } | 'stop') => {
    if (message === 'stop') {
      await Promise.all(running)
      await deps.store.close()
      port.close()
      return
    }
    const run = serve(deps, message.port, message.job).finally(() => running.delete(run))
    running.add(run)
  })
}

/**
 * Runs one import and reports its end. An error is sent as plain data, since a class does not
 * survive between threads.
 */
async function serve(deps: ThreadDeps, port: MessagePort, job: ImportJob): Promise<void> {
  const tell = (message: FromThread) => port.postMessage(message)
  try {
    const counts = await importContacts(deps, job.accountId, piecesFrom(port), job.options)
    tell({ kind: 'done', counts })
  } catch (error) {
    if (error instanceof ApiError) tell({ kind: 'refused', refusal: toRefusal(error) })
    else tell({ kind: 'failed', error })
  } finally {
    port.close()
  }
}

/** Asks for each piece when the one before is used up: the client waits, and memory does not fill. */
async function* piecesFrom(port: MessagePort): AsyncGenerator<Uint8Array> {
  for (;;) {
    const answer = once(port, 'message')
    port.postMessage({ kind: 'more' } satisfies FromThread)
    const [message] = (await answer) as [ToThread]
    if (message.kind === 'end') return
    if (message.kind === 'broken') {
      throw message.refusal ? fromRefusal(message.refusal) : new Error('The file did not arrive')
    }
    yield message.bytes
  }
}
