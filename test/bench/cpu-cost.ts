import { generateKeyPairSync, sign } from 'node:crypto'

/** ms of CPU a call: the least of twenty rounds, as other work on the machine only adds. */
export function costOf(act: () => void): number {
  for (let i = 0; i < 300; i++) act()
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 20; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < 50; i++) act()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 50_000)
  }
  return least
}

/** Says what an RSA-2048 signature costs here, beside which other figures can be compared. */
export function sayMachine(): void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signature = costOf(() => sign('sha256', Buffer.from('x'), privateKey))
  console.log(
    `an RSA-2048 signature ${signature.toFixed(3)} ms (${Math.round(1_000 / signature)}/s)`,
  )
}
