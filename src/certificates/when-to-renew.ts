import { X509Certificate } from 'node:crypto'
import { type Clock, dayMs } from '../clock/index.js'
import type { CertificateRow } from '../store/index.js'
import type { Directory } from './directory.js'
import type { HeldCertificate } from './held.js'
import { renewalTime } from './schedule.js'

interface Deps {
  clock: Clock
  random: () => number
  openOnce: () => Promise<Directory>
}

/**
 * When to renew a certificate, and when to look at it next: by the directory's word, else by the certificate's life.
 */
export async function whenToRenew(
  { clock, random, openOnce }: Deps,
  { cert }: HeldCertificate,
  row: Pick<CertificateRow, 'renew_at'>,
): Promise<{ renew_at: number; next_at: number }> {
  const now = clock.now()
  // Once the time has come, a directory that is down, or has changed its mind, does not put the renewal off.
  if (row.renew_at !== null && row.renew_at <= now) return { renew_at: row.renew_at, next_at: now }
  const { validFrom, validTo } = new X509Certificate(cert)
  const life = { beganAt: Date.parse(validFrom), endsAt: Date.parse(validTo) }
  const byLife = row.renew_at ?? renewalTime(life, random)
  // What it says about renewals is advice. If it cannot be asked, that is reported when a certificate is due.
  const info = await openOnce()
    .then(({ renewalInfo }) => renewalInfo(cert.toString()))
    .catch(() => undefined)
  if (info === undefined) return { renew_at: byLife, next_at: Math.min(byLife, now + dayMs) }
  const { startsAt, endsAt, againMs } = info
  // RFC 9773 §4.2: a random time within the window, kept as long as the window contains it.
  const isKept = byLife >= startsAt && byLife < endsAt
  const chosen = isKept ? byLife : Math.round(startsAt + random() * (endsAt - startsAt))
  const renew_at = Math.min(chosen, life.endsAt - (life.endsAt - life.beganAt) / 20)
  return { renew_at: Math.round(renew_at), next_at: Math.round(Math.min(renew_at, now + againMs)) }
}
