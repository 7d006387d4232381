import { certificatesOf } from '../app/certificates.js'
import { startHousekeeping } from '../app/housekeeping.js'
import { rateChores, sharedCountsOf } from '../app/rates.js'
import { surgeSettings } from '../app/surges.js'
import { runThread, type ThreadContext } from '../app/thread.js'
import { joinBacklog } from '../deliveries/index.js'
import { openSubmission } from '../submission/index.js'
import { openRenderer } from '../templates/index.js'

/** The API fetches attachments by URL; a message by SMTP has them within itself. */
function noFiles(): Promise<never> {
  return Promise.reject(new Error('Nothing is fetched for a submitted message'))
}

// Takes mail from programs by SMTP, with a log-in, and gives it to the same acceptance as the API.
await runThread('submission', start, { answers: true })

async function start({ data, store, clock, log, meter, ring }: ThreadContext) {
  const { outbound, contacts } = data.config
  const renderer = openRenderer({ log, clock })
  const counts = sharedCountsOf(data.config)
  const submission = await openSubmission({
    store,
    clock,
    log,
    meter,
    renderer,
    ring,
    config: data.config,
    certificates: certificatesOf('submission', { ...data, log }),
    plans: data.plans,
    backlog: joinBacklog(data.backlog),
    maxQueued: outbound.maxQueued,
    retry: outbound.retry,
    defaultCountry: contacts.defaultCountry,
    surges: surgeSettings(data.config),
    // A message brings its attachments in itself, within its own size.
    attachments: { maxBytes: 0, maxCount: 0, fetchFile: noFiles },
    dir: data.dataDir,
    ports: data.listenPorts ?? {},
    counts,
  })
  const exchange = startHousekeeping(clock, log, rateChores({ store, clock }, counts))
  return {
    ports: submission.ports,
    reload: submission.reload,
    async stop() {
      await submission.close()
      await exchange.stop()
      await renderer.close()
    },
  }
}
