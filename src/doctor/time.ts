import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock } from '../clock/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import { addressesOf } from './source-addresses.js'

/**
 * How far this machine's clock is off, by the time servers (SNTP, RFC 4330); the middle answer counts.
 */
export async function checkTime(deps: DoctorDeps): Promise<Finding[]> {
  const of = findingsOf('clock', 'this machine')
  const { timeServers } = deps.config.doctor
  const asked = await Promise.all(timeServers.map((server) => offsetBy(deps, server)))
  const offsets = asked.filter((offset) => typeof offset === 'number').sort((x, y) => x - y)
  const offsetMs = offsets[Math.floor(offsets.length / 2)]
  if (offsetMs === undefined) {
    const [silent] = asked
    if (typeof silent === 'object' && asked.every((one) => typeof one === 'object')) {
      return [of.noAnswer(silent.failed)]
    }
    return [
      of.unchecked(
        `no time server answered (${timeServers.join(', ') || 'none is set'})`,
        "see 'timedatectl' for whether the clock is synchronised, and set doctor.time_servers",
      ),
    ]
  }
  const found = `${Math.abs(offsetMs / 1_000).toFixed(1)} s ${offsetMs > 0 ? 'slow' : 'fast'} by ${offsets.length} time servers`
  const fix = 'sudo timedatectl set-ntp true (or install chrony)'
  // Signatures and certificates are judged by minutes, and a clock that runs free drifts that far.
  if (Math.abs(offsetMs) > 60_000) return [of.fail(found, fix)]
  if (Math.abs(offsetMs) > 2_000) return [of.warn(found, fix)]
  return [of.ok(found)]
}

/**
 * SNTP (RFC 4330): one question, one answer. The error is half of the round trip, which is good
 * enough to find a clock that is wrong by seconds.
 */
async function offsetBy({ resolver, clock, config }: DoctorDeps, server: string) {
  const { host, port } = splitServer(server)
  const { addresses, failed } = await addressesOf(resolver, host)
  const [address] = addresses
  if (address === undefined) return failed === undefined ? undefined : { failed }
  return askOffset(clock, Math.min(config.doctor.timeout, maxWaitMs), address, port).catch(
    () => undefined,
  )
}

const ntpPort = 123
// An answer that takes longer is no good for the time.
const maxWaitMs = 3_000

/** An IPv6 address has colons of its own, so a port after it needs brackets. */
export function splitServer(server: string): { host: string; port: number } {
  const match = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(server)
  if (match === null || isIPv6(server)) return { host: server, port: ntpPort }
  return { host: match[1] ?? '', port: Number(match[2]) }
}

/** What to add to our time to get the server's, in milliseconds. */
function askOffset(clock: Clock, timeoutMs: number, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    const end = (settle: () => void) => {
      cancel()
      socket.removeAllListeners()
      socket.close()
      settle()
    }
    const cancel = clock.after(timeoutMs, () => end(() => reject(new Error('no answer in time'))))
    socket.once('error', (error) => end(() => reject(error)))
    const request = Buffer.alloc(48)
    request[0] = 0x23 // version 4, mode client
    // RFC 4330 §5: the server repeats our transmit time; a random one cannot be guessed.
    const cookie = randomBytes(8)
    cookie.copy(request, 40)
    const sentAt = clock.now()
    socket.on('message', (reply) => {
      if (!isAnswer(reply, cookie)) return
      const arrivedAt = clock.now()
      const there = (readTime(reply, 32) - sentAt + readTime(reply, 40) - arrivedAt) / 2
      end(() => resolve(there))
    })
    socket.connect(port, host, () => socket.send(request))
  })
}

/** RFC 4330 §5: mode 4 is a server's answer, and the cookie shows that it answers our question. */
function isAnswer(reply: Buffer, cookie: Buffer): boolean {
  if (reply.length < 48 || !reply.subarray(24, 32).equals(cookie)) return false
  const mode = (reply[0] ?? 0) & 7
  const stratum = reply[1] ?? 0
  // Stratum 0 is a refusal (kiss of death), 16 a server without the time.
  return mode === 4 && stratum >= 1 && stratum <= 15
}

// Seconds from 1900 to 1970, and from 1900 to the next era (2036).
const unixEpoch = 2_208_988_800
const eraSeconds = 2 ** 32

/** Seconds since 1900 in 32 bits and a fraction in 32 bits (RFC 4330 §3). */
function readTime(reply: Buffer, at: number): number {
  const seconds = reply.readUInt32BE(at)
  // RFC 4330 §3: a time without the top bit is after 2036.
  const since1900 = seconds < 2 ** 31 ? seconds + eraSeconds : seconds
  return (since1900 - unixEpoch) * 1_000 + (reply.readUInt32BE(at + 4) / 2 ** 32) * 1_000
}
