import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Clock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import { type GuardDeps, guardedLookup, hostOf, permittedAddresses } from '../webhooks/index.js'

/** What an upload needs. */
export interface UploadDeps extends GuardDeps {
  clock: Clock
  signal: AbortSignal
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string | undefined
}

// For the whole upload.
const timeoutMs = 30_000
const maxHeaderBytes = 16_384

/**
 * POSTs a packed report (RFC 8460 §5.4) to the place that a stranger names: only to public addresses, unless
 * `webhooks.allow` names others. No redirect is followed, no answer is read. Resolves with the reason where it was
 * refused.
 */
export async function uploadReport(
  deps: UploadDeps,
  uri: string,
  gzip: Buffer,
): Promise<string | undefined> {
  const url = new URL(uri)
  try {
    // An address needs no look-up, so nothing else would check it.
    if (isIP(hostOf(url)) !== 0) await permittedAddresses(deps, url)
  } catch (error) {
    return messageOf(error)
  }
  return await new Promise((resolve) => {
    const end = (cause: string | undefined) => {
      cancel()
      deps.signal.removeEventListener('abort', stop)
      resolve(cause)
      posting.destroy()
    }
    const stop = () => end('the appliance stops')
    const posting = request(url, {
      method: 'POST',
      agent: false,
      minVersion: 'TLSv1.2',
      maxHeaderSize: maxHeaderBytes,
      lookup: guardedLookup(deps, url),
      headers: {
        'content-type': 'application/tlsrpt+gzip',
        'content-length': gzip.length,
        'user-agent': 'Posthorn',
      },
      ...(deps.ca === undefined ? {} : { ca: deps.ca }),
    })
    posting.on('error', (error) => end(messageOf(error) || error.name))
    posting.once('response', ({ statusCode = 0 }) => {
      end(statusCode >= 200 && statusCode < 300 ? undefined : `HTTP ${statusCode}`)
    })
    const cancel = deps.clock.after(timeoutMs, () => end(`no answer within ${timeoutMs / 1_000} s`))
    deps.signal.addEventListener('abort', stop)
    if (deps.signal.aborted) stop()
    posting.end(gzip)
  })
}
